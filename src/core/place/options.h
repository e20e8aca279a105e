/* options.h: the hosts that a waiting VM may be powered on at, best first; or the host that comes closest. */
#ifndef BALLAST_CORE_OPTIONS_H
#define BALLAST_CORE_OPTIONS_H

#include "core/fit/rank.h"
#include "core/plan/pass_state.h"

struct option {
    uint32_t slot;
    bool distrusted;       /* its host is */
    bool joins;            /* runs a VM of the unit's preferred affinity rules */
    double imbalance;      /* with the unit on the host */
    struct fit_ranked fit; /* by the pipeline of the unit's first VM that ranks hosts */
};

struct options {
    struct option *items; /* hosts that are not distrusted first, then those that join, then by the pipeline
                             (core/fit/rank.h), then the lowest imbalance, then the lower host */
    uint32_t n;
    uint32_t cut_by; /* the stage whose cut left none of those that could run the VM, + 1; 0: none did */
};

/* So many of the best are in order; those behind them are in no order. */
#define OPTIONS_SORTED 16

void options_rank(const struct layout *l, uint32_t unit, struct arena *a, struct options *ret);

/* Puts all behind the first in order. */
void options_sort_others(struct options *o);

/* Below 0: x comes first. */
int options_compare(const struct option *x, const struct option *y);

/* Puts the option to its place among the first n, which are in order. */
void options_insert(struct option *items, uint32_t n, struct option o);

/* The VM of the unit whose pipeline ranks the hosts; without one, the first. */
uint32_t options_ranking_vm(const struct layout *l, uint32_t unit);

/* Why the unit can be powered on nowhere: the shortage on the host that comes closest (*ret_host; IX_NONE: no
 * host). */
struct finding options_none(const struct pass *p, uint32_t unit, uint32_t *ret_host);

#endif
