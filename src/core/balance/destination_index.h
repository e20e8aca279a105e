/* destination_index.h: an index of destinations, which finds the best host for a unit without trying all.
 *
 * Hosts of the same capacity and a similar copy rate form a class (of the same capacity, if all hosts copy at
 * one rate). A class that is too slow for a unit's move to pay is skipped. Within a class the gain never
 * rises when the destination's N falls, so the corner of a box of hosts (its lowest N of each resource)
 * bounds the gain on all of them. Each class is a k-d tree of boxes over (N_cpu, N_mem), updated with the
 * loads and rebuilt after many changes. */
#ifndef BALLAST_CORE_DESTINATION_INDEX_H
#define BALLAST_CORE_DESTINATION_INDEX_H

#include "core/balance/destination_scores.h"
#include "core/balance/move_score.h"

struct destination_node {
    double least[RES_COUNT]; /* N of the box's corner */
    double room_mb;          /* the most memory that a host of the box can still take */
    double free_mb;          /* the most physically free memory of a host */
    double left[RES_COUNT];  /* the most unreserved capacity of a host */
    double rate_mb_s;        /* the fastest copy rate to a host */
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
    uint32_t n_nodes;
    uint32_t changes;                  /* since the trees were built */
    uint32_t builds;                   /* of the trees */
    struct destination_scores *scores; /* NULL: no pipeline scores moves */
};

/* into: by slot, an upper bound on the copy rate to it from any host. preference: may be NULL. */
void destination_index_init(struct destination_index *t, const struct layout *l, const double *into,
                            const struct move_preference *preference, struct arena *a);

/* The place in order of the leaf's first host; the next leaf's first host follows its last. */
static inline uint32_t destination_leaf_start(const struct destination_class *c, uint32_t leaf)
{
    return c->from + (uint32_t)((uint64_t)c->n * leaf / c->leaves);
}

/* Whether no host of the class has a faster copy rate than this. */
static inline bool destination_index_too_slow(const struct destination_index *t,
                                              const struct destination_class *c, double slowest)
{
    return t->nodes[c->first_node + 1].rate_mb_s <= slowest;
}

/* Updates the boxes for the slot's new load. */
void destination_index_update(struct destination_index *t, uint32_t slot);

/* Another host of the slot's class with at most its N in both resources; IX_NONE. */
uint32_t destination_index_find_colder(const struct destination_index *t, uint32_t slot);

/* The slot with the lowest imbalance, then the lowest slot, of those where the unit, which is in none, passes
 * every check; IX_NONE: there is none. */
uint32_t destination_index_evenest(const struct destination_index *t, const struct move_trial *trial,
                                   uint32_t unit, double *ret_imbalance);

/* Rebuilds the trees after many changes. */
void destination_index_refresh(struct destination_index *t);

/* Which moves a search looks at, by their (adjusted) gain. */
struct gain_range {
    double least, most;
};

/* The highest gain of the unit over all hosts but `except`, in all classes that are not too slow for it
 * (move_score.slowest); rules and memory are ignored. At least range.least; the search ends at the first gain
 * of at least range.most. */
double destination_index_relaxed(const struct destination_index *t, const struct move_score *score,
                                 const struct move_trial *trial, uint32_t except, struct gain_range range);

/* Replaces *best by the unit's best move in the range that passes every check, if that is better. Returns
 * how checks rejected moves that would have been better. */
enum rejection destination_index_best(const struct destination_index *t, const struct move_score *score,
                                      const struct move_trial *trial, uint32_t unit, struct gain_range range,
                                      struct move *best);

#endif
