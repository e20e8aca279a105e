/* pool_figures.c: the figures of a pool. */
#include "sim/report/pool_figures.h"

#include "base/cleanup.h"

#include <math.h>

static const struct {
    const char *name, *label;
} names[POOL_FIGURE_COUNT] = {
#define POOL_FIGURE_NAME(id, name, label) {name, label},
    POOL_FIGURES(POOL_FIGURE_NAME)
#undef POOL_FIGURE_NAME
};

const char *pool_figure_name(enum pool_figure f)
{
    return names[f].name;
}

const char *pool_figure_label(enum pool_figure f)
{
    return names[f].label;
}

static double got(const struct pool_result *p, enum resource r)
{
    return p->wanted[r] > 0 ? 100 * p->delivered[r] / p->wanted[r] : NAN;
}

static double pool_figure(const struct pool_result *p, enum pool_figure f)
{
    switch (f) {
    case POOL_PAYLOAD_CPU:
        return p->payload[RES_CPU];
    case POOL_PAYLOAD_MEM:
        return p->payload[RES_MEM];
    case POOL_GOT_CPU:
        return got(p, RES_CPU);
    case POOL_GOT_MEM:
        return got(p, RES_MEM);
    case POOL_HAPPINESS_MEAN:
        return p->happiness_mean;
    case POOL_HAPPY_SHARE:
        return p->happy_share;
    case POOL_HAPPINESS_LEAST:
        return p->happiness_least;
    case POOL_FIGURE_COUNT:
        break;
    }
    return NAN;
}

struct spread pool_figures_spread(const struct run_set *set, uint32_t pool, enum pool_figure f)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    double *values = arena_array(&scratch, double, set->n);

    for (size_t i = 0; i < set->n; i++)
        values[i] = pool_figure(&set->runs[i].pools[pool], f);
    return metric_spread_of(values, set->n);
}
