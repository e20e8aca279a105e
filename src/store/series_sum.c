/* series_sum.c: sums of looks by steps of time. */
#include "store/series_sum.h"

#include <math.h>

void series_sum_init(struct series_sum *sum, instant_s first, instant_s step_s, size_t n, struct arena *a)
{
    *sum = (struct series_sum){.first = first, .step_s = step_s, .n = n};
    sum->cells = arena_alloc(a, n, sizeof *sum->cells);
}

static void add_to_cell(struct series_cell *c, enum look_sum how, double figure, double weight)
{
    if (isnan(figure))
        return;
    switch (how) {
    case LOOK_MEAN:
        c->sum += figure * weight;
        break;
    case LOOK_HIGHEST:
        c->sum = c->weight > 0 ? fmax(c->sum, figure) : figure;
        break;
    case LOOK_LOWEST:
        c->sum = c->weight > 0 ? fmin(c->sum, figure) : figure;
        break;
    }
    c->weight += weight;
}

void series_sum_add(struct series_sum *sum, enum look_kind kind, const double *figures, bool means,
                    instant_s from, instant_s until)
{
    const instant_s end = sum->first + (instant_s)sum->n * sum->step_s;

    from = from > sum->first ? from : sum->first;
    until = until < end ? until : end;
    while (from < until) {
        const size_t step = (size_t)((from - sum->first) / sum->step_s);
        const instant_s step_end = sum->first + ((instant_s)step + 1) * sum->step_s;
        const instant_s next = until < step_end ? until : step_end;

        for (int f = 0; f < look_figure_count; f++) {
            if (look_has(kind, (enum look_figure)f))
                add_to_cell(&sum->cells[step][f], look_figures[f].sum,
                            figures[means ? f : (int)look_figures[f].of], (double)(next - from));
        }
        from = next;
    }
}

double series_sum_get(const struct series_sum *sum, size_t step, enum look_figure f)
{
    const struct series_cell *c = &sum->cells[step][f];

    if (c->weight == 0)
        return UNKNOWN;
    return look_figures[f].sum == LOOK_MEAN ? c->sum / c->weight : c->sum;
}
