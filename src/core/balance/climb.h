/* climb.h: greedy hill climbing (§3.1.2, Algorithm 1).
 *
 * Step by step the one move that lowers the imbalance most is taken, out of all pairs of a movable unit and a
 * host. The fast step looks only at pairs that could be the best (bounds.h, destination_index.h) and finds
 * the very move that a look at all pairs would.
 */
#ifndef BALLAST_CORE_CLIMB_H
#define BALLAST_CORE_CLIMB_H

#include "core/balance/bounds.h"
#include "core/balance/destination_index.h"
#include "core/balance/move_score.h"

/* A slot that the best move may leave. */
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
    double goodness0; /* the least gain, before it is lowered */
    double last_gain; /* of the last step's move */
    bool *pays;       /* by unit: it may be moved, and could pay for it; known for the units of ... */
    bool *pays_known; /* ... these slots */
    double *slowest;  /* by unit that pays: move_score.slowest */
    struct source_slot *sources; /* scratch: slots to look at in a step */
    double *bound;               /* scratch: by slot */
    double *corner;              /* scratch: by index in a slot's list */
};

void climb_init(struct climb *c, struct layout *l, struct migration_cost *costs, struct plan_stats *stats,
                struct arena *a);

/* The best move, or one with unit == IX_NONE. Changes nothing but what is known about bounds. */
struct move climb_step(struct climb *c);

/* Makes the move. The units that have been moved are not moved again: unit_held becomes CHECK_VM_MOVED. */
void climb_apply(struct climb *c, const struct move *m);

/* Adds to the statistics what never had to be tried: units that are held, or cannot pay wherever they go.
 * Once, at the end. */
void climb_count_rejected(struct climb *c);

/* Where imbalance is far above the target and nothing gains enough, less has to be enough (§3.1.3). Returns
 * false when the least has been reached. */
bool climb_lower_goodness(struct climb *c);

#endif
