/* rank_once.h: a ranking that is asked once. */
#ifndef BALLAST_TESTS_UNIT_RANK_ONCE_H
#define BALLAST_TESTS_UNIT_RANK_ONCE_H

#include "core/fit/rank.h"

/* Fills all but host. */
static inline void rank_once(const struct fit *fit, uint32_t vm, const struct expression_live *live,
                             struct fit_ranked *hosts, uint32_t n, struct arena *a)
{
    uint32_t *index = arena_array(a, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        index[i] = hosts[i].host;
    struct fit_ranking *r = fit_ranking_new(fit, vm, live, index, n, a);
    double *buckets = arena_array(a, double, (size_t)n * r->n_buckets);

    fit_ranking_score(r);
    for (uint32_t i = 0; i < n; i++)
        fit_ranking_get(r, i, buckets + (size_t)i * r->n_buckets, &hosts[i]);
}

#endif
