/* prerequisite_moves.h: bringing a VM to where it does not fit yet: other VMs move away first (prerequisite
 * moves, §3.1.6 and §3.2).
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

#endif
