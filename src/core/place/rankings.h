/* rankings.h: rankings of hosts that are kept from one power-on to the next, for units that are alike.
 *
 * The best host for a unit depends on all hosts: filters and limits say which are candidates, scores are
 * normalised over these. A power-on changes one host. So the ranking of a unit is kept, and for the next unit
 * that is checked and ranked alike only the hosts that have changed since are checked and ranked again
 * (core/fit/rank.h). The answer is the first of options_rank(), always. */
#ifndef BALLAST_CORE_RANKINGS_H
#define BALLAST_CORE_RANKINGS_H

#include "core/place/options.h"

struct rankings;

/* For the pass; its hosts change by climb_apply() only. Release it before the pass goes. */
struct rankings *rankings_new(struct pass *p);
void rankings_release(struct rankings *k);

/* The first option for the unit, which is in the slot `outside`, and cut_by. n: 1, or 0: there is none. What
 * *ret points to is valid until the next call. */
void rankings_best(struct rankings *k, uint32_t unit, struct options *ret);

#endif
