/* climb.h: greedy hill climbing (§3.1.2, Algorithm 1).
 *
 * Each step takes, of all pairs of a movable unit and a host, the move that reduces the imbalance most. A
 * step searches only the pairs that could be the best (bounds.h, destination_index.h) and finds the same move
 * as a search of all pairs.
 *
 * In a full cluster most moves of much gain are rejected. So each unit has a limit: no move of it that passes
 * the checks gains more. A limit holds until the unit's host changes; when another host changes, only the
 * moves to that host are judged again. This needs checks that depend, beside the unit, on nothing but its
 * host, the destination and the weights of the imbalance. Where anything else that a check uses changes,
 * all limits are forgotten. */
#ifndef BALLAST_CORE_CLIMB_H
#define BALLAST_CORE_CLIMB_H

#include "core/balance/bounds.h"
#include "core/balance/destination_index.h"
#include "core/balance/move_score.h"
#include "core/balance/source_queue.h"

/* The slots in the order of their last change, so that a search finds those that changed since another. */
struct changed_slots {
    uint32_t newest;
    uint32_t *older, *newer; /* by slot; IX_NONE: none */
    uint64_t *changed_at;    /* by slot: the number of its last change; 0: none */
    uint64_t *left_at;       /* by slot: the number of the last change in which a unit left it */
    uint64_t *searched_at;   /* by slot: the number of the last change before its search */
    uint64_t n;              /* changes so far */
};

struct climb {
    struct layout *l;
    struct migration_cost *costs;
    struct move_score score;
    struct destination_index destinations;
    struct bounds bounds;
    bool searched;               /* there was a step: bounds and what pays are kept up to date */
    bool unknown;                /* no slot was searched since all bounds were forgotten */
    uint64_t step;               /* the number of this step, from 1 */
    uint64_t *corners_at;        /* by slot: the step whose search of corners its next search starts from */
    double last_gain;            /* of the last step's move */
    double floor;                /* only moves that gain this are searched now */
    bool *pays;                  /* by unit: it may move and could pay; valid for the units of ... */
    bool *pays_known;            /* ... these slots */
    double *slowest;             /* by unit that could pay: move_score.slowest */
    struct source_queue sources; /* the slots to search in a step */
    double *limit; /* by unit: the most that a move of it can gain; valid for the units of the slots in
                      bounds.left_out, as of their last search */
    double *positive[RES_COUNT]; /* by unit: the largest contribution of each resource to such a gain
                                    (bounds.h) */
    uint32_t
        *known_to; /* by unit: the destination of a move that passes and that the limit leaves out; IX_NONE */
    double *known; /* by unit: its gain, as of the last search */
    uint32_t *again;                /* scratch: the units of a slot to search again; at the end, by unit: the
                                       check at which its best move fails */
    struct bounds_towards *towards; /* scratch: the changed slots of a search */
    struct changed_slots changed;
};

void climb_init(struct climb *c, struct layout *l, struct migration_cost *costs, struct plan_stats *stats,
                struct arena *a);

/* Searches the moves of this level, 2 ... 5, from now on. */
void climb_set_level(struct climb *c, int64_t level);

/* Finds the best move; unit IX_NONE: none. Changes nothing but the bounds. */
struct move climb_step(struct climb *c);

/* Makes the move. Its units do not move again: unit_held becomes CHECK_VM_MOVED. */
void climb_apply(struct climb *c, const struct move *m);

/* Takes the unit's last move back, which it made from this slot. The unit may move again. */
void climb_take_back(struct climb *c, uint32_t unit, uint32_t from_slot);

/* At the end: of the moves off the slots from `first` up to `end`, the one that would gain most if no check
 * rejected it; unit IX_NONE: none would lower the imbalance. Agents, and units that have moved, are left
 * aside. */
struct move climb_best_refused(struct climb *c, uint32_t first, uint32_t end);

/* At the end: adds to the statistics the candidates that were never tried, because a unit is held or, where
 * the last level was `searched` to its end, cannot pay on any host. */
void climb_count_rejected(struct climb *c, bool searched);

#endif
