/* bounds.h: for each host, an upper bound on the gain of any move off it, so that a step of the climb
 * searches only the hosts that can have the best move.
 *
 * A host's bound is the result of its last search (over all its units that may move and could pay, and all
 * destinations in classes that are not too slow for them; rules and memory are ignored), carried to the
 * present step:
 *
 * - A move's gain is Σ_r w_r (σ_r - √(σ_r² + δ_r)), where δ_r is its change of the variance. When σ_r goes
 *   from σ0 to σ1, term r is multiplied by (σ0 + √(σ0² + δ)) / (σ1 + √(σ1² + δ)). Let F_r be the largest such
 *   factor over all possible δ, and f the smallest over both resources. A gain g with the positive parts p_r
 *   becomes at most f g + Σ_r (F_r - f) p_r. Products of the factors carry a bound over several steps.
 * - With hosts of different capacity, a move also shifts the mean, and with it every δ: a small term is
 *   added.
 * - The destination of a move has become a worse destination, so bounds still hold. The source has become a
 *   better one. If another host of its class (the witness) has loads that are at least as low, moves to the
 *   witness already had that gain. Without a witness, all bounds that the source may break are forgotten.
 *
 * Where a search had moves that checks rejected, the bound may leave them out: a full cluster has many moves
 * of much gain that fit nowhere, and every step would search them again. A rejected move stays rejected until
 * one of its two hosts changes. So the bound of such a host is raised for both hosts of every move, with no
 * regard to a witness, which may have rejected what the changed host accepts. If all rejections last while
 * the destination only receives VMs (REJECTION_LASTS), the destination of the move raises no bound: rejected
 * moves to it stay rejected, and the others gain less than before.
 *
 * Moves are compared by their adjusted gain, g' = g - c, where c >= 0 is what a lower score costs
 * (move_preference.h) and does not change. What bounds g bounds g'. But a bound that leaves out rejected
 * moves holds for g' only: there g' = g - c becomes at most f (g' + c) + Σ_r (F_r - f) p_r - c, which is (f -
 * 1) c more, and f exceeds 1 when σ falls. A move that passes has g' > 0, thus c < g <= Σ_r p_r: so max(0, f
 * - 1) Σ_r p_r is added. A move with g' <= 0 does not pass; a carried bound is at least 0, so that it holds
 * for such a move too.
 *
 * So that a step need not look at the bounds of all hosts, neighbouring slots form blocks. A block's bound is
 * the highest bound of its slots at some moment, carried to the present: a slot's bound is k a + Σ_r g_r p_r
 * + G d (S - s), where k, g_r, G and S are the factors so far, the same for all slots, and a, p_r >= 0, 0 < d
 * <= 1 and s >= 0 are the slot's own. A change of k raises no bound by more than the change times the least
 * or the highest a of the block, a change of g_r by no more than the change times the largest p_r; G and S
 * never fall, and raise no bound by more than G S rises. A slot's new bound raises the block's bound if it is
 * higher. In large clusters blocks form blocks of the next level, with bounds of the same kind.
 *
 * tests/property/climb.c compares every step with a search of all pairs, and the bounds with what moves gain.
 */
#ifndef BALLAST_CORE_BOUNDS_H
#define BALLAST_CORE_BOUNDS_H

#include "base/order.h"
#include "core/balance/destination_index.h"

/* The factors of a moment from which gains are carried. */
struct bounds_moment {
    double grow[RES_COUNT], grow_any, keep, shift;
};

/* A gain g of then is now at most factor × g + Σ_r part_r × p_r + more, where p_r is the largest contribution
 * of resource r now; that is at most grow_r × the largest one of then + shift. With scores: an adjusted gain,
 * or 0. */
struct bounds_carry {
    double factor, part[RES_COUNT], more, grow[RES_COUNT], shift;
};

#define BOUNDS_BLOCK 16 /* parts of a block */
#define BOUNDS_LEVELS 8 /* enough for 2^32 slots */

/* At least the bound of each slot of a block at a moment; NO_LIMIT: one is unknown. And what these bounds
 * consist of, as in struct bounds: the most of each, or the least. */
struct bounds_block {
    double most, kept_least, kept_most, positive[RES_COUNT];
    struct bounds_moment at;
};

struct bounds {
    const struct layout *l;
    /* By slot, from the last search; gain is NO_LIMIT for an unknown bound. Each is divided by the factors
     * carried so far, so that carrying is one product for all slots. */
    double *gain, *positive_kept, *grown, *shift0;
    double *positive_grown[RES_COUNT];
    uint32_t *left_out, n_left_out; /* the slots whose bounds leave out moves that checks rejected */
    uint32_t *left_out_at;          /* by slot: its index there; IX_NONE */
    enum rejection *rejected;       /* by such a slot: whether these rejections last */
    struct bounds_moment *moment;   /* by such a slot: the moment of the search that rejected them */
    bool adjusted;                  /* scores lower the gains of moves */
    double *keep0;                  /* by slot: `keep` when its bound was set */
    /* By level from 1 on. The parts of a block begin at BOUNDS_BLOCK times its index: of level 1, slots by
     * their place in `order`; of a higher level, blocks of the level below. */
    struct bounds_block *blocks[BOUNDS_LEVELS + 1];
    uint32_t n_blocks[BOUNDS_LEVELS + 1];          /* by level; [0]: slots */
    uint32_t top;                                  /* the highest level */
    uint32_t *order, *place;                       /* slots by place, and places by slot */
    struct sized *by_bound;                        /* slots; of bounds_sort() */
    double *largest[RES_COUNT];                    /* by slot: demand of its largest unit that may move */
    double grow[RES_COUNT], grow_any, keep, shift; /* Π F_r, Π max F_r, Π f, Σ additions, so far */
    double part_max[RES_COUNT];                    /* the largest unit's share of the smallest host */
    double uneven[RES_COUNT]; /* the largest change of Σ N by one unit, with hosts of different capacity */
    double sigma[RES_COUNT], sum[RES_COUNT], weight[RES_COUNT]; /* of the last step */
    double spread[RES_COUNT];                                   /* an upper bound on |N - mean| */
    double steepness[RES_COUNT]; /* an upper bound on 1 / √(σ² + δ), for any δ of one move */
};

/* adjusted: scores lower the gains of moves. */
void bounds_init(struct bounds *b, const struct layout *l, bool adjusted, struct arena *a);

/* The slot's bound is unknown. */
void bounds_forget(struct bounds *b, uint32_t slot);

/* All bounds are unknown. */
void bounds_forget_all(struct bounds *b);

/* Bounds that leave out rejected moves are unknown. */
void bounds_forget_rejections(struct bounds *b);

/* Carries the bounds over a move from one slot to another, or forgets them. */
void bounds_after_move(struct bounds *b, const struct destination_index *t, uint32_t from, uint32_t to);

/* Records the result of a search that leaves out no moves. positive: the largest contribution of each
 * resource. */
void bounds_set(struct bounds *b, uint32_t slot, double gain, const double positive[RES_COUNT]);

/* Records the demand of the slot's largest unit that may move, whether or not a move pays. */
void bounds_set_largest(struct bounds *b, uint32_t slot, const double largest[RES_COUNT]);

/* Lowers the bound just recorded, after a closer search. */
void bounds_lower(struct bounds *b, uint32_t slot, double gain);

/* Records the result of a search that leaves out rejected moves; rejected: whether the rejections last. All
 * other moves gain at most this. */
void bounds_leave_out(struct bounds *b, uint32_t slot, double gain, enum rejection rejected);

/* How gains that were found by the search before the last bounds_leave_out() are carried to now. */
struct bounds_carry bounds_carry_of(const struct bounds *b, uint32_t slot);

/* What units of a slot that may move can gain on another slot. */
struct bounds_towards {
    uint32_t slot;
    double gain, of[RES_COUNT];   /* the most, and by each resource */
    double per_demand[RES_COUNT]; /* a unit gains at most this, by each resource, times its demand */
};

struct bounds_towards bounds_gain_towards(const struct bounds *b, uint32_t slot, uint32_t to);

/* What scores add to the present bound of a slot whose bound leaves out rejected moves. */
double bounds_adjusted_more(const struct bounds *b, uint32_t slot);

/* Whether the slot's bound leaves out moves that checks rejected. */
static inline bool bounds_leaves_out(const struct bounds *b, uint32_t slot)
{
    return b->left_out_at[slot] != IX_NONE;
}

static inline struct bounds_moment bounds_moment_now(const struct bounds *b)
{
    return (struct bounds_moment){.grow = {b->grow[RES_CPU], b->grow[RES_MEM]},
                                  .grow_any = b->grow_any,
                                  .keep = b->keep,
                                  .shift = b->shift};
}

static inline double bounds_with(const struct bounds *b, uint32_t slot, double kept)
{
    return b->keep * kept + b->grow[RES_CPU] * b->positive_grown[RES_CPU][slot] +
           b->grow[RES_MEM] * b->positive_grown[RES_MEM][slot] +
           b->grow_any * b->grown[slot] * (b->shift - b->shift0[slot]);
}

/* The present bound of the slot, without what scores add. */
static inline double bounds_now(const struct bounds *b, uint32_t slot)
{
    return bounds_with(b, slot, b->gain[slot] - b->positive_kept[slot]);
}

/* ---- bounds_blocks.c ---- */

void bounds_init_blocks(struct bounds *b, struct arena *a);

/* Orders the slots by their present bounds, the highest first: slots of low bounds then share blocks that
 * need not be opened. */
void bounds_sort(struct bounds *b);

/* Raises the bounds of the slot's blocks for a new bound of the slot. */
void bounds_raise_blocks(struct bounds *b, uint32_t slot);

/* At least the present bound of each slot of the block. */
double bounds_of_block(const struct bounds *b, uint32_t level, uint32_t block);

/* Gives the present bounds of the block's parts, which are slots or blocks, and begins the block's bound anew
 * with them. Returns their number. */
uint32_t bounds_open_block(struct bounds *b, uint32_t level, uint32_t block, double ret[BOUNDS_BLOCK]);

#endif
