/* placement.h: VMs that an admin wants powered on, or migrated to the best host. */
#ifndef BALLAST_ENGINE_PLACEMENT_H
#define BALLAST_ENGINE_PLACEMENT_H

#include "engine/ports.h"

struct engine;

/* In the order in which they were asked for. */
struct placements {
    struct pending_placement **list;
    size_t n;
    uint64_t last_ticket;
};

/* Some request waits for an inventory. */
bool placement_wait(const struct engine *e);
/* Decides what waited for this inventory. True: something was begun, so nothing else is to be decided from
 * it. */
bool placement_decide(struct engine *e, uint64_t serial, instant_s now);
/* What waits for this inventory, or an earlier one, waits in vain. */
void placement_fail(struct engine *e, uint64_t serial, const struct err *why, instant_s now);
void placement_forget(struct engine *e, instant_s now); /* results that no caller has fetched */
void placement_free(struct placements *p);

#endif
