/* series_sum.h: means, highest and lowest figures over steps of equal length, of looks that each cover a span
 * of time. It knows no database. */
#ifndef BALLAST_STORE_SERIES_SUM_H
#define BALLAST_STORE_SERIES_SUM_H

#include "engine/look.h"

struct series_cell {
    double sum, weight; /* highest and lowest: the figure itself; weight 0: nothing */
};

/* The steps of one object. */
struct series_sum {
    instant_s first, step_s;
    size_t n;
    struct series_cell (*cells)[look_figure_count];
};

void series_sum_init(struct series_sum *sum, instant_s first, instant_s step_s, size_t n, struct arena *a);

/* What was seen from `from` to `until`. means: figures that are taken of another one (look.h) are there, else
 * they are made of that one. Unknown figures count for nothing. */
void series_sum_add(struct series_sum *sum, enum look_kind kind, const double *figures, bool means,
                    instant_s from, instant_s until);

/* UNKNOWN: nothing was seen within the step. */
double series_sum_get(const struct series_sum *sum, size_t step, enum look_figure f);

#endif
