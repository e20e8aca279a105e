/* room.h: bringing a VM to where it does not fit yet: other VMs move away first (prerequisite moves, §3.1.6
 * and §3.2), or a host is woken.
 *
 * A VM that moves away goes to a third host where it fits as things stand, so a swap of two full hosts is
 * broken up by way of a third, or cannot be. One step deep: whoever moves away does not push others on.
 */
#ifndef BALLAST_CORE_ROOM_H
#define BALLAST_CORE_ROOM_H

#include "core/plan/pass_state.h"

#define ROOM_MOVES_MAX 8

/* What a host has to hold of a VM: two reservations, the memory that is promised (policy.mem_admission), and
 * the memory that must be physically there. */
enum { ROOM_CPU, ROOM_MEM, ROOM_ADMITTED, ROOM_FREE, ROOM_NEEDS };

/* How much of each the unit needs, and by how much that is beyond what the slot has; <= 0: it is not. */
void room_shortage(const struct layout *l, uint32_t unit, uint32_t slot, double ret[ROOM_NEEDS],
                   double ret_need[ROOM_NEEDS]);

/* Who has to move away so that the unit can come to to_slot. */
struct way {
    uint32_t to_slot;
    struct move out[ROOM_MOVES_MAX];
    uint32_t n;
    double copied_mb;
    double imbalance; /* with the unit there */
};

/* The way with the fewest moves, then the least to copy, then the best balance; only (a slot, or IX_NONE)
 * restricts where to. False: there is none. Nothing is changed. */
bool room_find(struct pass *p, uint32_t unit, uint32_t only, struct way *ret);

/* Makes the moves of the way, not that of the unit itself. False: the pass stops here. */
bool room_take(struct pass *p, uint32_t unit, const struct way *way);

/* A host in standby where the unit would fit; it may be one that the plan wakes already. The more certain one
 * to come first, then the larger ones (§4.4), then the lower id. IX_NONE: none. */
uint32_t room_sleeping_host(struct pass *p, uint32_t unit);

/* Whether the host sleeps and may be woken; and whether it should be before another one (IX_NONE: none). */
bool room_may_be_woken(const struct pass *p, uint32_t slot);
bool room_comes_first(const struct pass *p, uint32_t slot, uint32_t than);

/* How uncertain it is that a host that sleeps comes when the plan wants it: 0, its wake-up has been proven;
 * 1, it has not; 2 and 3, the same, but a person has to approve it. A plan that is content with such a one
 * leaves those asleep that would come by themselves. */
unsigned room_uncertainty(const struct pass *p, uint32_t slot);

/* Why a plan wakes a host. */
struct wake_why {
    enum reason reason;
    uint32_t for_vm; /* IX_NONE: for no single one */
    unsigned priority;
    const struct finding *found; /* NULL: what the reason and for_vm tell */
};

/* Adds the decision to wake a host, and nothing else. */
void room_record_wake(struct pass *p, uint32_t slot, const struct wake_why *why, uint32_t bundle);

/* Wakes the host: from here on the plan counts with it. */
void room_wake_host(struct pass *p, uint32_t slot, const struct wake_why *why);

/* The same for VMs that must have it, unless the plan does already. */
void room_wake(struct pass *p, uint32_t slot, enum reason reason, uint32_t for_vm);

/* A host that is being woken already, by an earlier plan, and has room for the unit: it is worth waiting for.
 * IX_NONE: none. */
uint32_t room_coming(const struct pass *p, uint32_t unit);

#endif
