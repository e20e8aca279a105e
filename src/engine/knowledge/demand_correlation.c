#include "engine/knowledge/demand_correlation.h"

#include <math.h>

/* With fewer times nothing is said: two samples always lie on a line. */
#define TIMES_LEAST 4

/* Samples are kept with seven digits: what is less than that of the deviations is rounding. */
#define SQUARES_LEAST 1e-6

void demand_correlation_end(struct demand_correlation *t, enum window w, enum resource r, double squares)
{
    t->squares[w][r] += squares;
    t->deviations[w][r] += sqrt(squares);
}

/* Of n times the variance of a sum of independent VMs is off by √(2/(n-1)) of itself in the mean. All sums
 * are over the same times, so that their number cancels out. */
static double measure(const struct demand_correlation *t, enum window w, enum resource r)
{
    double of_sum = 0;
    unsigned n = 0;

    for (int i = 0; i < DEMAND_CORRELATION_TIMES; i++) {
        n += t->seen[w][i] ? 1 : 0;
        of_sum += t->away[w][r][i] * t->away[w][r][i];
    }
    if (n < TIMES_LEAST)
        return 0;
    double alone = t->squares[w][r];
    double pairs = t->deviations[w][r] * t->deviations[w][r] - alone;
    double chance = alone * sqrt(2 / (double)(n - 1));

    if (!(pairs > SQUARES_LEAST))
        return 0;
    return fmin(fmax((of_sum - alone - chance) / pairs, 0), 1);
}

struct correlation demand_correlation_result(const struct demand_correlation *t)
{
    struct correlation ret;

    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++)
            ret.of[w][r] = measure(t, (enum window)w, (enum resource)r);
    return ret;
}
