/* prerequisite_moves.h: moves of other VMs that free capacity for a VM (§3.1.6 and §3.2).
 *
 * The other VMs move to a third host with free capacity, so two full hosts swap VMs by way of a third host or
 * not at all. The search is one step deep: a prerequisite move has no prerequisite moves. */
#ifndef BALLAST_CORE_PREREQUISITE_MOVES_H
#define BALLAST_CORE_PREREQUISITE_MOVES_H

#include "core/plan/pass_state.h"

#define PREREQUISITE_MOVES_MAX 8

/* The capacities that a VM needs on a host: two reservations, admitted memory (policy.mem_admission), and
 * physically free memory. */
enum { SHORTAGE_CPU, SHORTAGE_MEM, SHORTAGE_ADMITTED, SHORTAGE_FREE, SHORTAGE_COUNT };

/* The unit's need of each capacity, and its shortage on the slot; <= 0: no shortage. */
void prerequisite_move_shortage(const struct layout *l, uint32_t unit, uint32_t slot,
                                double ret[SHORTAGE_COUNT], double ret_need[SHORTAGE_COUNT]);

/* The units that leave to_slot for a unit. */
struct prerequisite_moves {
    uint32_t to_slot;
    struct move out[PREREQUISITE_MOVES_MAX];
    uint32_t n;
    double copied_mb;
    double imbalance; /* with the unit on to_slot */
};

/* What moves that are not mandatory ask in addition: of each unit that makes way, and of a solution. */
struct prerequisite_terms {
    bool (*may_make_way)(const void *with, uint32_t unit);
    bool (*holds)(void *with, uint32_t unit, const struct prerequisite_moves *way);
    void *with;
};

/* The solution with the fewest moves, then the least memory to copy, then the lowest imbalance. only: the one
 * slot to try; IX_NONE: all. terms: NULL for mandatory moves. False: no solution. Restores the layout. */
bool prerequisite_moves_find(struct pass *p, uint32_t unit, uint32_t only,
                             const struct prerequisite_terms *terms, struct prerequisite_moves *ret);

/* Records and makes mandatory prerequisite moves, not the unit's own move. False: the pass stops here. */
bool prerequisite_moves_take(struct pass *p, uint32_t unit, const struct prerequisite_moves *way);

#endif
