#include "walk.h"

void walk_init(struct walk *w, const struct plan *plan, struct oracle *o,
               void (*look)(void *ctx, uint32_t i, bool begins), void *ctx, struct arena *a)
{
    *w = (struct walk){.plan = plan, .o = o, .look = look, .ctx = ctx};
    w->started = arena_array(a, bool, plan->n_recommendations);
    w->done = arena_array(a, bool, plan->n_recommendations);
}

static void restart(struct walk *w)
{
    oracle_reset(w->o);
    for (uint32_t i = 0; i < w->plan->n_recommendations; i++) {
        w->started[i] = false;
        w->done[i] = false;
    }
}

static bool may_begin(const struct walk *w, uint32_t i)
{
    const struct recommendation *rec = &w->plan->recommendations[i];

    if (w->started[i])
        return false;
    for (uint32_t k = 0; k < rec->n_depends_on; k++)
        if (!w->done[rec->depends_on[k] - 1])
            return false;
    return true;
}

static void begin(struct walk *w, uint32_t i)
{
    w->started[i] = true;
    oracle_begin(w->o, &w->plan->recommendations[i]);
    w->look(w->ctx, i, true);
}

static void end(struct walk *w, uint32_t i)
{
    w->done[i] = true;
    oracle_end(w->o, &w->plan->recommendations[i]);
    w->look(w->ctx, i, false);
}

void walk_by_chance(struct walk *w, struct rng *r)
{
    uint32_t n = w->plan->n_recommendations;
    uint32_t left = n;

    restart(w);
    while (left > 0) {
        uint32_t i = rng_below(r, n);
        if (may_begin(w, i)) {
            begin(w, i);
        } else if (w->started[i] && !w->done[i] && rng_unit(r) < 0.3) {
            end(w, i);
            left--;
        }
    }
}

/* Dependencies come before what depends on them, so that this ends. */
static void begin_after_dependencies(struct walk *w, uint32_t i)
{
    const struct recommendation *rec = &w->plan->recommendations[i];

    for (uint32_t k = 0; k < rec->n_depends_on; k++)
        if (!w->done[rec->depends_on[k] - 1]) {
            begin_after_dependencies(w, rec->depends_on[k] - 1);
            end(w, rec->depends_on[k] - 1);
        }
    begin(w, i);
}

void walk_early(struct walk *w, uint32_t i)
{
    restart(w);
    begin_after_dependencies(w, i);
    for (uint32_t k = w->plan->n_recommendations; k-- > 0;)
        if (may_begin(w, k))
            begin(w, k);
}
