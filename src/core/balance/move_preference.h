/* move_preference.h: what the scores and buckets of pipelines (core/fit/frozen.h) say about a move of a unit.
 *
 * The adjusted gain of a move for balance is its gain minus κ · the gain of moving an average VM · the drop
 * of the score, summed up over the VMs of the unit. So it is never above the gain, and what bounds the gain
 * bounds it. κ is policy.score_weight; README.md says why it counts in moves of an average VM. Where the
 * score does not drop, both are equal to the last digit.
 *
 * All of it depends on the unit, its slot and the destination alone, for the whole pass: a unit moves once.
 */
#ifndef BALLAST_CORE_MOVE_PREFERENCE_H
#define BALLAST_CORE_MOVE_PREFERENCE_H

#include "core/fit/frozen.h"
#include "core/layout/layout.h"

struct move_preference {
    const struct layout *l;
    struct fit_frozen *frozen;
    struct fit_then then;
    const int64_t *used; /* l->used when the pass begins */
    const double *load;  /* of CPU, by slot, then */
    const double *idle;  /* l->mem_idle, then */
    double price;        /* of a drop from the best host to the worst, in imbalance */
};

/* Call before the layout's first move. gain: of moving an average VM. NULL: no pipeline scores or buckets
 * moves. */
struct move_preference *move_preference_new(const struct layout *l, double gain, struct arena *a);

/* What the drop of the score takes off the gain; 0: it does not drop. */
double move_preference_cost(const struct move_preference *p, uint32_t unit, uint32_t to_slot);

/* Whether the destination is in a worse bucket for a VM of the unit: for which one (IX_NONE: for none), and
 * by which stage. ret: may be NULL. */
uint32_t move_preference_worse_bucket(const struct move_preference *p, uint32_t unit, uint32_t to_slot,
                                      struct fit_frozen_bucket *ret);

/* How a move that must be made ranks among the moves of the unit to other hosts: not to a distrusted host
 * first, not to a worse bucket, then by the lowest imbalance, to which the lower score adds, and memory that
 * must be reclaimed, as if it were load. preference: may be NULL. */
struct move_rank {
    bool distrusted, worse_bucket;
    double imbalance;
};

struct move_rank move_preference_rank(const struct layout *l, const struct move_preference *preference,
                                      uint32_t unit, uint32_t to_slot, double imbalance_after);

static inline bool move_rank_is_better(struct move_rank x, struct move_rank than)
{
    if (x.distrusted != than.distrusted)
        return than.distrusted;
    return x.worse_bucket != than.worse_bucket ? than.worse_bucket : x.imbalance < than.imbalance;
}

/* The VM of the unit whose score drops most from one slot to the other; from_slot IX_NONE: from its own host.
 */
uint32_t move_preference_worst_vm(const struct move_preference *p, uint32_t unit, uint32_t from_slot,
                                  uint32_t to_slot);

#endif
