/* explain.h: why a VM is moved, or is not: each host with the check that decided.
 *
 * The pass is run, and then replayed up to the moment of the VM's own move, or to its end for a VM that
 * stays; every host is then judged at that moment by the same functions that the pass uses.
 */
#ifndef BALLAST_CORE_EXPLAIN_H
#define BALLAST_CORE_EXPLAIN_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

struct candidate {
    uint32_t host;
    enum verdict verdict;
    enum check check;
    const struct finding *found;
    double imbalance_after; /* UNKNOWN where the move was ruled out before that was asked */
    double cost[RES_COUNT], benefit[RES_COUNT]; /* UNKNOWN likewise */
};

struct explanation {
    uint32_t vm;
    struct candidate *candidates; /* by host */
    uint32_t n;
    const struct finding *summary;
};

/* host: IX_NONE for all of them. */
int explain_vm(const struct snapshot *snap, const struct policy *policy, uint32_t vm, uint32_t host,
               struct arena *a, struct explanation *ret, struct err *err);

/* Why a host is put to standby or woken by the plan, or is not (§4): the check that decided. */
struct host_explanation {
    uint32_t host;
    enum verdict verdict;   /* chosen, or rejected */
    enum power_check check; /* POWER_FINE: the plan does it */
    const struct finding *found;
    double utilization[RES_COUNT];              /* over 40 minutes, with two deviations; UNKNOWN */
    double cost[RES_COUNT], benefit[RES_COUNT]; /* of putting it to standby; UNKNOWN where it was not asked */
    const struct finding *outlook;              /* what is expected of the next hours; NULL: nothing */
    double off_s, watts;                        /* UNKNOWN likewise, or not known */
};

int explain_host(const struct snapshot *snap, const struct policy *policy, uint32_t host, struct arena *a,
                 struct host_explanation *ret, struct err *err);

#endif
