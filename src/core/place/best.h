/* best.h: the host at which a running VM is best, for an admin who migrates it to "the best node". */
#ifndef BALLAST_CORE_BEST_H
#define BALLAST_CORE_BEST_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

struct best_host {
    uint32_t host;             /* its own, if no other is better; IX_NONE: none may run it */
    const struct finding *why; /* why none may run it */
};

/* Ranks hosts as for a power-on, among them the VM's own, where it counts without what it takes there. The
 * plan has one ACTION_MIGRATE for each VM that moves with it (REASON_ASKED), none if it is best where it is.
 * The cost of the migration and its benefit do not count, nor do a cool-down and unknown demand: an admin
 * asks. -EBUSY: the VM does not run, or nothing may move it. */
int best_host_find(const struct snapshot *snap, const struct policy *policy, uint32_t vm, struct arena *a,
                   struct best_host *ret, struct plan *ret_plan, struct err *err);

#endif
