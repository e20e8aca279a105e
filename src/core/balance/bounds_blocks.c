/* Carries an upper bound for each block of slots, so that a step of the climb finds the slots with the
 * highest bounds without a look at all of them. bounds.h has the proof. */
#include "core/balance/bounds.h"

#include <stdlib.h>

#define SLACK 1e-9 /* exceeds the rounding of a sum of a few products, as a part of them */

/* The highest level has no more blocks than a block has parts: a step reads the bounds of all of them. */
void bounds_init_blocks(struct bounds *b, struct arena *a)
{
    b->n_blocks[0] = b->l->n_on;
    b->order = arena_array(a, uint32_t, b->l->n_on);
    b->place = arena_array(a, uint32_t, b->l->n_on);
    b->by_bound = arena_array(a, struct sized, b->l->n_on);
    for (uint32_t i = 0; i < b->l->n_on; i++) {
        b->order[i] = i;
        b->place[i] = i;
    }
    do {
        uint32_t n = (b->n_blocks[b->top] + BOUNDS_BLOCK - 1) / BOUNDS_BLOCK;
        b->n_blocks[++b->top] = n;
        b->blocks[b->top] = arena_array(a, struct bounds_block, n);
    } while (b->n_blocks[b->top] > BOUNDS_BLOCK);
}

double bounds_of_block(const struct bounds *b, uint32_t level, uint32_t block)
{
    const struct bounds_block *k = &b->blocks[level][block];

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

/* Raises the block's bound, and what it consists of, to cover a part with this bound now. */
static inline void cover(struct bounds_block *k, double now, const struct bounds_block *part)
{
    k->most = now > k->most ? now : k->most;
    k->kept_least = part->kept_least < k->kept_least ? part->kept_least : k->kept_least;
    k->kept_most = part->kept_most > k->kept_most ? part->kept_most : k->kept_most;
    for (int r = 0; r < RES_COUNT; r++)
        k->positive[r] = part->positive[r] > k->positive[r] ? part->positive[r] : k->positive[r];
}

/* A block of one slot, but for the moment. */
static inline struct bounds_block block_of_slot(const struct bounds *b, uint32_t slot)
{
    struct bounds_block k = {
        .positive = {b->positive_grown[RES_CPU][slot], b->positive_grown[RES_MEM][slot]}};
    double kept = b->gain[slot] - b->positive_kept[slot];
    double none =
        -(b->grow[RES_CPU] * k.positive[RES_CPU] + b->grow[RES_MEM] * k.positive[RES_MEM]) / b->keep;

    /* a bound far below 0, where no unit pays, would make the block's bound rise far too much later */
    kept = kept > none ? kept : none;
    k.kept_least = kept;
    k.kept_most = kept;
    k.most = bounds_with(b, slot, kept);
    return k;
}

/* The highest bound first. */
void bounds_sort(struct bounds *b)
{
    for (uint32_t i = 0; i < b->l->n_on; i++)
        b->by_bound[i] = (struct sized){bounds_now(b, i), i};
    qsort(b->by_bound, b->l->n_on, sizeof b->by_bound[0], order_largest);
    for (uint32_t i = 0; i < b->l->n_on; i++) {
        b->order[i] = b->by_bound[i].index;
        b->place[b->order[i]] = i;
    }
    for (uint32_t level = 1; level <= b->top; level++)
        for (uint32_t k = 0; k < b->n_blocks[level]; k++)
            b->blocks[level][k].most = NO_LIMIT;
}

void bounds_raise_blocks(struct bounds *b, uint32_t slot)
{
    struct bounds_moment now = bounds_moment_now(b);
    struct bounds_block own;
    uint32_t at = b->place[slot];

    for (uint32_t level = 1; level <= b->top; level++) {
        struct bounds_block *k = &b->blocks[level][at /= BOUNDS_BLOCK];
        if (k->most == NO_LIMIT)
            return; /* and so are the blocks above */
        if (level == 1)
            own = block_of_slot(b, slot);
        k->most = bounds_of_block(b, level, at);
        k->at = now;
        cover(k, own.most, &own);
    }
}

uint32_t bounds_open_block(struct bounds *b, uint32_t level, uint32_t block, double ret[BOUNDS_BLOCK])
{
    uint32_t from = block * BOUNDS_BLOCK;
    uint32_t left = b->n_blocks[level - 1] - from;
    uint32_t n = left < BOUNDS_BLOCK ? left : BOUNDS_BLOCK;
    struct bounds_block k = {.most = -NO_LIMIT, .at = bounds_moment_now(b)};

    for (uint32_t i = 0; i < n; i++) {
        if (level == 1) {
            uint32_t slot = b->order[from + i];
            const struct bounds_block part = block_of_slot(b, slot);
            ret[i] = bounds_now(b, slot) + (b->adjusted ? bounds_adjusted_more(b, slot) : 0);
            cover(&k, part.most, &part);
        } else {
            ret[i] = bounds_of_block(b, level - 1, from + i);
            cover(&k, ret[i], &b->blocks[level - 1][from + i]);
        }
    }
    if (b->adjusted) /* what scores add is not carried: the block is opened in each step */
        k.most = NO_LIMIT;
    b->blocks[level][block] = k;
    return n;
}
