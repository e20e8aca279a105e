/* prerequisite_moves.h: bringing a VM to where it does not fit yet: other VMs move away first (prerequisite
 * moves, §3.1.6 and §3.2), or a host is woken.
 *
 * A VM that moves away goes to a third host where it fits as things stand, so a swap of two full hosts is
 * broken up by way of a third, or cannot be. One step deep: whoever moves away does not push others on.
 */
#ifndef BALLAST_CORE_PREREQUISITE_MOVES_H
#define BALLAST_CORE_PREREQUISITE_MOVES_H

#include "core/plan/pass_state.h"

#define PREREQUISITE_MOVES_MAX 8

/* What a host has to hold of a VM: two reservations, the memory that is promised (policy.mem_admission), and
 * the memory that must be physically there. */
enum { SHORTAGE_CPU, SHORTAGE_MEM, SHORTAGE_ADMITTED, SHORTAGE_FREE, SHORTAGE_COUNT };

/* How much of each the unit needs, and by how much that is beyond what the slot has; <= 0: it is not. */
void prerequisite_move_shortage(const struct layout *l, uint32_t unit, uint32_t slot,
                                double ret[SHORTAGE_COUNT], double ret_need[SHORTAGE_COUNT]);

/* Who has to move away so that the unit can come to to_slot. */
struct prerequisite_moves {
    uint32_t to_slot;
    struct move out[PREREQUISITE_MOVES_MAX];
    uint32_t n;
    double copied_mb;
    double imbalance; /* with the unit there */
};

/* The way with the fewest moves, then the least to copy, then the best balance; only (a slot, or IX_NONE)
 * restricts where to. False: there is none. Nothing is changed. */
bool prerequisite_moves_find(struct pass *p, uint32_t unit, uint32_t only, struct prerequisite_moves *ret);

/* Makes the moves of the way, not that of the unit itself. False: the pass stops here. */
bool prerequisite_moves_take(struct pass *p, uint32_t unit, const struct prerequisite_moves *way);

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
