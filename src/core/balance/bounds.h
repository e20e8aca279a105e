/* bounds.h: for each host, the most that any move off it can still gain - so that a step looks again only at
 * the hosts that could hold the best move.
 *
 * The bound of a host is what was found when it was last looked at (over all its units that may be moved and
 * could pay, and all destinations in classes that are not too slow for them, whatever rules and memory say),
 * carried forward to the present:
 *
 * - A candidate's gain is Σ_r w_r (σ_r - √(σ_r² + δ_r)) with δ_r the change in variance that it makes. When
 * σ_r goes from σ0 to σ1, term r is multiplied by (σ0 + √(σ0² + δ)) / (σ1 + √(σ1² + δ)). With F_r the
 * greatest such factor over all δ that are possible, and f the least over both resources, a gain g with the
 * positive parts p_r becomes at most f g + Σ_r (F_r - f) p_r. Products of the factors carry over several
 * steps.
 * - Where hosts differ in capacity a move also shifts the mean, and with it every δ a little: a small term is
 * added.
 * - A destination that received something can only have become worse. The host that gave something has become
 *   better; if another host of its class is at least as cold in both resources, whoever could gain by moving
 * there could already gain as much by moving to that other. If there is none, nothing is known any more.
 *
 * The proof obligations are checked, not trusted: tests/property compares every step with one that looks at
 * all pairs.
 */
#ifndef BALLAST_CORE_BOUNDS_H
#define BALLAST_CORE_BOUNDS_H

#include "core/balance/destination_index.h"

struct bounds {
    const struct layout *l;
    /* By slot, as they were found; gain is NO_LIMIT where nothing is known. Each divided by what had been
     * carried by then, so that carrying it on is a product. */
    double *gain, *positive_kept, *grown, *shift0;
    double *positive_grown[RES_COUNT];
    double *largest[RES_COUNT]; /* by slot: the demand of its largest unit that may be moved */
    double grow[RES_COUNT], grow_any, keep, shift; /* Π F_r, Π max F_r, Π f, Σ additions, so far */
    double part_max[RES_COUNT];                    /* the largest unit, as a part of the smallest host */
    double
        uneven[RES_COUNT]; /* the largest difference that a unit can make to Σ N: hosts of unequal capacity */
    double sigma[RES_COUNT], sum[RES_COUNT], weight[RES_COUNT]; /* at the last step */
    double spread[RES_COUNT];                                   /* at least the greatest |N - mean| */
    double steepness[RES_COUNT]; /* at least 1 / √(σ² + δ), for any δ that a move can make */
};

void bounds_init(struct bounds *b, const struct layout *l, struct arena *a);

/* A move has been made from one slot to another: what was known is carried forward, or dropped. */
void bounds_after_move(struct bounds *b, const struct destination_index *t, uint32_t from, uint32_t to);

/* Records what a look at the slot found; positive: the most that each resource's term contributes. */
void bounds_set(struct bounds *b, uint32_t slot, double gain, const double positive[RES_COUNT]);

/* The demand of the slot's largest unit that may be moved, whether it pays or not. */
void bounds_set_largest(struct bounds *b, uint32_t slot, const double largest[RES_COUNT]);

/* A closer look has found a lower bound on what was just recorded. */
void bounds_lower(struct bounds *b, uint32_t slot, double gain);

/* The most that any move off the slot can gain now. */
static inline double bounds_now(const struct bounds *b, uint32_t slot)
{
    return b->keep * (b->gain[slot] - b->positive_kept[slot]) +
           b->grow[RES_CPU] * b->positive_grown[RES_CPU][slot] +
           b->grow[RES_MEM] * b->positive_grown[RES_MEM][slot] +
           b->grow_any * b->grown[slot] * (b->shift - b->shift0[slot]);
}

#endif
