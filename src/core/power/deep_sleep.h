/* deep_sleep.h: searches for better power-offs than the greedy ones: fewest watts, then fewest moves and
 * least memory to copy.
 *
 * The order in which hosts are tried says which stay on, and which receive VMs. Each round changes it and
 * chooses anew by sleep_choose(), with all checks; simulated annealing keeps the better order, at the
 * beginning also one that is a little worse. A plan with more watts than the greedy one is never kept.
 *
 * The result depends on the input, the policy's seed and search_budget, not on the clock. */
#ifndef BALLAST_CORE_DEEP_SLEEP_H
#define BALLAST_CORE_DEEP_SLEEP_H

#include "core/power/power.h"

/* way: the greedy choice. If a better one is found, way is that. start: sleep_start_again(). Leaves the
 * what-if anywhere: start again. */
void deep_sleep_search(struct power *w, const struct power *start, struct sleep_way *way);

#endif
