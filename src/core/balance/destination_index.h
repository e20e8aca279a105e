/* destination_index.h: the hosts as destinations, arranged so that the best one is found without looking at
 * all of them.
 *
 * Hosts of the same capacity that are reached about as fast form a class (where all hosts copy at one rate,
 * the capacity alone does): a unit whose move would not pay over a slow link is not looked at there at all.
 * Within a class the gain of a move never rises when the destination's N falls, so the corner of a box of
 * hosts (its least N of each resource) bounds them all. Each class is a k-d tree of such boxes over (N_cpu,
 * N_mem), kept up to date as loads change and built anew when they have changed a lot.
 */
#ifndef BALLAST_CORE_DESTINATION_INDEX_H
#define BALLAST_CORE_DESTINATION_INDEX_H

#include "core/balance/move_score.h"

struct destination_node {
    double least[RES_COUNT]; /* N of the box's corner */
    double room_mb;          /* the most memory that any host of the box can still take */
    double free_mb;          /* ... the most that is physically free */
    double left[RES_COUNT];  /* ... the most that is left to reserve */
    double rate_mb_s;        /* the fastest way to any of them */
};

struct destination_class {
    double inverse[RES_COUNT];
    uint32_t from, n;    /* of order */
    uint32_t first_node; /* the tree's root is node first_node + 1; the children of i are 2i and 2i + 1 */
    uint32_t leaves;     /* a power of two */
};

struct destination_index {
    const struct layout *l;
    struct destination_class *classes;
    uint32_t n_classes;
    uint32_t *class_of; /* by slot */
    uint32_t *order;    /* slots, by class and leaf */
    uint32_t *position; /* slot -> its index in order */
    const double *into; /* by slot: see destination_index_init() */
    struct destination_node *nodes;
    uint32_t changes; /* since the trees were built */
};

/* into: by slot, at least the rate to it from anywhere. */
void destination_index_init(struct destination_index *t, const struct layout *l, const double *into,
                            struct arena *a);

/* Whether no host of the class is reached faster than this. */
static inline bool destination_index_too_slow(const struct destination_index *t,
                                              const struct destination_class *c, double slowest)
{
    return t->nodes[c->first_node + 1].rate_mb_s <= slowest;
}

/* Follows a change of the slot's load. */
void destination_index_update(struct destination_index *t, uint32_t slot);

/* Another host of the slot's class that is at least as cold in both resources, or IX_NONE. */
uint32_t destination_index_find_colder(const struct destination_index *t, uint32_t slot);

/* Builds the trees anew if that has become worth it. */
void destination_index_refresh(struct destination_index *t);

/* The greatest gain of the unit over all hosts but `except`, whatever rules or memory say, in all classes
 * that are not too slow for it (move_score.slowest), if it is greater than floor; else floor. */
double destination_index_relaxed(const struct destination_index *t, const struct move_score *score,
                                 const struct move_trial *trial, uint32_t except, double floor);

/* Betters *best by moves of the unit that pass every check. */
void destination_index_best(const struct destination_index *t, const struct move_score *score,
                            const struct move_trial *trial, uint32_t unit, struct move *best);

#endif
