/* host_wakes.h: wakes of hosts in standby, for a VM or for load. */
#ifndef BALLAST_CORE_HOST_WAKES_H
#define BALLAST_CORE_HOST_WAKES_H

#include "core/plan/pass_state.h"

/* A host in standby with room for the unit, which the plan may wake already: the least uncertain first, then
 * the largest (§4.4), then the lower id. IX_NONE: none. */
uint32_t host_wake_find(struct pass *p, uint32_t unit, enum reason reason);

/* Whether the host is in standby and may be woken for this reason; whether to prefer it to another (IX_NONE:
 * none). */
bool host_wake_is_allowed(const struct pass *p, uint32_t slot, enum reason reason);
bool host_wake_comes_first(const struct pass *p, uint32_t slot, uint32_t than);

/* Whether the unit could run on the slot once its host is on. */
bool host_wake_makes_room(struct layout *l, uint32_t unit, uint32_t slot);

/* The first slot whose host is powering on, in the snapshot or in this plan; IX_NONE. */
uint32_t host_wake_coming(const struct pass *p);

/* The uncertainty of a wake: 0, a wake of this host has succeeded before; 1, none has; 2 and 3, likewise, but
 * an admin must approve it. A plan prefers hosts that wake without an approval. */
unsigned host_wake_uncertainty(const struct pass *p, uint32_t slot);

/* Why a plan wakes a host. */
struct wake_why {
    enum reason reason;
    uint32_t for_vm; /* IX_NONE: for no single VM */
    unsigned priority;
    const struct finding *found; /* NULL: the reason and for_vm say all */
};

/* Records the decision; changes nothing else. */
void host_wake_record(struct pass *p, uint32_t slot, const struct wake_why *why, uint32_t move_group);

/* Records the decision and lets the layout use the host. */
void host_wake_take(struct pass *p, uint32_t slot, const struct wake_why *why);

/* host_wake_take() for a mandatory move, unless the plan wakes the host already. */
void host_wake_for(struct pass *p, uint32_t slot, enum reason reason, uint32_t for_vm);

/* A host with room for the unit whose wake an earlier plan started. IX_NONE: none. */
uint32_t host_wake_under_way(const struct pass *p, uint32_t unit);

#endif
