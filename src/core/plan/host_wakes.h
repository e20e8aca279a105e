/* host_wakes.h: hosts in standby that the plan wakes. */
#ifndef BALLAST_CORE_HOST_WAKES_H
#define BALLAST_CORE_HOST_WAKES_H

#include "core/plan/pass_state.h"

/* A host in standby where the unit would fit; it may be one that the plan wakes already. The more certain one
 * to come first, then the larger ones (§4.4), then the lower id. IX_NONE: none. */
uint32_t host_wake_find(struct pass *p, uint32_t unit);

/* Whether the host sleeps and may be woken; and whether it should be before another one (IX_NONE: none). */
bool host_wake_is_allowed(const struct pass *p, uint32_t slot);
bool host_wake_comes_first(const struct pass *p, uint32_t slot, uint32_t than);

/* How uncertain it is that a host that sleeps comes when the plan wants it: 0, its wake-up has been proven;
 * 1, it has not; 2 and 3, the same, but a person has to approve it. A plan that is content with such a one
 * leaves those asleep that would come by themselves. */
unsigned host_wake_uncertainty(const struct pass *p, uint32_t slot);

/* Why a plan wakes a host. */
struct wake_why {
    enum reason reason;
    uint32_t for_vm; /* IX_NONE: for no single one */
    unsigned priority;
    const struct finding *found; /* NULL: what the reason and for_vm tell */
};

/* Adds the decision to wake a host, and nothing else. */
void host_wake_record(struct pass *p, uint32_t slot, const struct wake_why *why, uint32_t move_group);

/* Wakes the host: from here on the plan counts with it. */
void host_wake_take(struct pass *p, uint32_t slot, const struct wake_why *why);

/* The same for VMs that must have it, unless the plan does already. */
void host_wake_for(struct pass *p, uint32_t slot, enum reason reason, uint32_t for_vm);

/* A host that is being woken already, by an earlier plan, and has room for the unit: it is worth waiting for.
 * IX_NONE: none. */
uint32_t host_wake_under_way(const struct pass *p, uint32_t unit);

#endif
