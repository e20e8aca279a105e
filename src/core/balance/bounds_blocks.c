/* Carries an upper bound for each block of slots, so that a step of the climb finds the slots with the
 * highest bounds without a look at all of them. bounds.h has the proof. */
#include "core/balance/bounds.h"

#define SLACK 1e-9 /* exceeds the rounding of a sum of a few products, as a part of them */

void bounds_init_blocks(struct bounds *b, struct arena *a)
{
    b->n_blocks = (b->l->n_on + BOUNDS_BLOCK - 1) / BOUNDS_BLOCK;
    b->blocks = arena_array(a, struct bounds_block, b->n_blocks);
}

double bounds_of_block(const struct bounds *b, uint32_t block)
{
    const struct bounds_block *k = &b->blocks[block];

    if (k->most == NO_LIMIT)
        return NO_LIMIT;
    double keep = b->keep - k->at.keep;
    double most = k->most + keep * (keep > 0 ? k->kept_most : k->kept_least);
    double size = b->keep * (k->kept_most - 2 * k->kept_least);
    for (int r = 0; r < RES_COUNT; r++) {
        double grow = b->grow[r] - k->at.grow[r];
        most += grow > 0 ? grow * k->positive[r] : 0;
        size += b->grow[r] * k->positive[r];
    }
    double shift = (b->grow_any - k->at.grow_any) * b->shift + k->at.grow_any * (b->shift - k->at.shift);
    return most + shift + SLACK * size;
}

/* Raises what the block's bound consists of to cover the slot. */
static inline void cover(const struct bounds *b, struct bounds_block *k, uint32_t slot)
{
    double cpu = b->positive_grown[RES_CPU][slot];
    double mem = b->positive_grown[RES_MEM][slot];
    double kept = b->gain[slot] - b->positive_kept[slot];
    double none = -(b->grow[RES_CPU] * cpu + b->grow[RES_MEM] * mem) / b->keep;

    /* a bound far below 0, where no unit pays, would make the block's bound rise far too much later */
    kept = kept > none ? kept : none;
    double most = bounds_with(b, slot, kept);
    k->most = most > k->most ? most : k->most;
    k->kept_least = kept < k->kept_least ? kept : k->kept_least;
    k->kept_most = kept > k->kept_most ? kept : k->kept_most;
    k->positive[RES_CPU] = cpu > k->positive[RES_CPU] ? cpu : k->positive[RES_CPU];
    k->positive[RES_MEM] = mem > k->positive[RES_MEM] ? mem : k->positive[RES_MEM];
}

void bounds_raise_block(struct bounds *b, uint32_t slot)
{
    struct bounds_block *k = &b->blocks[slot / BOUNDS_BLOCK];

    if (k->most == NO_LIMIT)
        return;
    k->most = bounds_of_block(b, slot / BOUNDS_BLOCK);
    k->at = bounds_moment_now(b);
    cover(b, k, slot);
}

uint32_t bounds_open_block(struct bounds *b, uint32_t block, double ret[BOUNDS_BLOCK])
{
    uint32_t from = block * BOUNDS_BLOCK;
    uint32_t n = b->l->n_on - from < BOUNDS_BLOCK ? b->l->n_on - from : BOUNDS_BLOCK;
    struct bounds_block k = {.most = -NO_LIMIT, .at = bounds_moment_now(b)};

    for (uint32_t i = 0; i < n; i++) {
        cover(b, &k, from + i);
        ret[i] = bounds_now(b, from + i);
        if (b->adjusted)
            ret[i] += bounds_adjusted_more(b, from + i);
    }
    if (b->adjusted) /* what scores add is not carried: the block is opened in each step */
        k.most = NO_LIMIT;
    b->blocks[block] = k;
    return n;
}
