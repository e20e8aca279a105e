/* compare.h: compares two policies, run by run. */
#ifndef BALLAST_SIM_REPORT_COMPARE_H
#define BALLAST_SIM_REPORT_COMPARE_H

#include "sim/report/metric.h"

#include <ballast/arena.h>

/* The number of seeds for which b is better (which = 1), or a (-1). */
size_t compare_seeds_better(const struct metric_row *m, const struct run_set *a, const struct run_set *b,
                            int which);

/* The effect of b in one sentence, in percent; "": no statement is possible. */
const char *compare_headline(struct arena *arena, const struct run_set *a, const struct run_set *b);

#endif
