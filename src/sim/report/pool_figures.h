/* pool_figures.h: the figures of a pool, as a table. All are percent. */
#ifndef BALLAST_SIM_REPORT_POOL_FIGURES_H
#define BALLAST_SIM_REPORT_POOL_FIGURES_H

#include "sim/report/format.h"

/* In the order of the text; the name is that of JSON. */
#define POOL_FIGURES(X)                                                                                      \
    X(POOL_PAYLOAD_CPU, "payload_cpu", "CPU payload")                                                        \
    X(POOL_PAYLOAD_MEM, "payload_mem", "memory payload")                                                     \
    X(POOL_GOT_CPU, "got_cpu", "CPU got of what was wanted")                                                 \
    X(POOL_GOT_MEM, "got_mem", "memory got of what was wanted")                                              \
    X(POOL_HAPPINESS_MEAN, "happiness_mean", "CPU got of the entitlement")                                   \
    X(POOL_HAPPY_SHARE, "happy_share", "VMs that got 95 % of it or more")                                    \
    X(POOL_HAPPINESS_LEAST, "happiness_least", "mean of its VMs at the worst time")

#define POOL_FIGURE_ID(id, name, label) id,
enum pool_figure { POOL_FIGURES(POOL_FIGURE_ID) POOL_FIGURE_COUNT };
#undef POOL_FIGURE_ID

const char *pool_figure_name(enum pool_figure f);
const char *pool_figure_label(enum pool_figure f);

/* The figure in each run. NAN: not known, as the delivered share of a pool without demand. */
struct spread pool_figures_spread(const struct run_set *set, uint32_t pool, enum pool_figure f);

#endif
