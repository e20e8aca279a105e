/* climb.h: greedy hill climbing (§3.1.2, Algorithm 1).
 *
 * Each step takes, of all pairs of a movable unit and a host, the move that reduces the imbalance most. A
 * step searches only the pairs that could be the best (bounds.h, destination_index.h) and finds the same move
 * as a search of all pairs. */
#ifndef BALLAST_CORE_CLIMB_H
#define BALLAST_CORE_CLIMB_H

#include "core/balance/bounds.h"
#include "core/balance/destination_index.h"
#include "core/balance/move_score.h"

/* A slot whose units may have the best move. */
struct source_slot {
    uint32_t slot;
    double bound;
};

struct climb {
    struct layout *l;
    struct migration_cost *costs;
    struct move_score score;
    struct destination_index destinations;
    struct bounds bounds;
    double last_gain;            /* of the last step's move */
    bool *pays;                  /* by unit: it may move and could pay; valid for the units of ... */
    bool *pays_known;            /* ... these slots */
    double *slowest;             /* by unit that could pay: move_score.slowest */
    struct source_slot *sources; /* scratch: the slots to search in a step */
    double *bound;               /* scratch: by slot */
    double *corner;              /* scratch: by index in a slot's list */
};

void climb_init(struct climb *c, struct layout *l, struct migration_cost *costs, struct plan_stats *stats,
                struct arena *a);

/* Searches the moves of this level, 2 ... 5, from now on. */
void climb_set_level(struct climb *c, int64_t level);

/* Finds the best move; unit IX_NONE: none. Changes nothing but the bounds. */
struct move climb_step(struct climb *c);

/* Makes the move. Its units do not move again: unit_held becomes CHECK_VM_MOVED. */
void climb_apply(struct climb *c, const struct move *m);

/* At the end: adds to the statistics the candidates that were never tried, because a unit is held or cannot
 * pay on any host. */
void climb_count_rejected(struct climb *c);

#endif
