/* walk.h: the orders in which a plan can be executed. At each moment either a recommendation begins whose
 * dependencies have all succeeded, or one that has begun succeeds; they may overlap. */
#ifndef BALLAST_TESTS_WALK_H
#define BALLAST_TESTS_WALK_H

#include "base/rng.h"
#include "oracle.h"

struct walk {
    const struct plan *plan;
    struct oracle *o;     /* is led along */
    bool *started, *done; /* by recommendation (index) */
    /* Called at each moment, after recommendation i began (or succeeded). */
    void (*look)(void *ctx, uint32_t i, bool begins);
    void *ctx;
};

void walk_init(struct walk *w, const struct plan *plan, struct oracle *o,
               void (*look)(void *ctx, uint32_t i, bool begins), void *ctx, struct arena *a);

/* One order, by chance. */
void walk_by_chance(struct walk *w, struct rng *r);

/* Recommendation i as early as it may be: only what it depends on has succeeded. After it everything else
 * that may begin then does, the latest first, and nothing ends. */
void walk_early(struct walk *w, uint32_t i);

#endif
