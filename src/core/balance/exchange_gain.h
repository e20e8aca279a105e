/* exchange_gain.h: what moving load between two or three hosts gains, and the most that it could gain,
 * whatever the units are.
 *
 * The gain of an exchange is Σ_r w_r (σ_r now - σ_r after). σ² over the amount d that moves from one host to
 * another is a parabola, so the gain of any pair of units is known from three numbers for each resource, and
 * the vertex bounds it. */
#ifndef BALLAST_CORE_EXCHANGE_GAIN_H
#define BALLAST_CORE_EXCHANGE_GAIN_H

#include "core/balance/move_score.h"

/* Σ and Σ² of N. */
struct sums {
    double sum[RES_COUNT], squares[RES_COUNT];
};

/* The variance of each resource over the amount that moves from one slot to another: a + b d + c d². */
struct parabolas {
    double a[RES_COUNT], b[RES_COUNT], c[RES_COUNT];
};

struct sums exchange_gain_now(const struct move_score *s);

/* Changes the sums by the units that a slot gives and takes (IX_NONE: none). Once for each slot. */
void exchange_gain_shift(const struct move_score *s, struct sums *x, uint32_t slot, uint32_t gives,
                         uint32_t takes);

/* N of a slot that gives and takes these units. */
double exchange_gain_norm(const struct move_score *s, int r, uint32_t slot, uint32_t gives, uint32_t takes);

/* Between two slots with these N, in a state with these sums. */
struct parabolas exchange_gain_between(const struct move_score *s, const struct sums *x, uint32_t from,
                                       const double norm_from[RES_COUNT], uint32_t to,
                                       const double norm_to[RES_COUNT]);

/* The gain of moving these amounts of CPU and memory; the most that any amounts could gain. */
double exchange_gain_at(const struct move_score *s, const struct parabolas *p, double cpu, double mem);
double exchange_gain_most(const struct move_score *s, const struct parabolas *p);

/* An upper bound of the gain of any amounts up to these. */
double exchange_gain_most_up_to(const struct move_score *s, const struct parabolas *p, double cpu,
                                double mem);

/* The most that any division of the load of three slots among them could gain. */
double exchange_gain_most_among(const struct move_score *s, const uint32_t slots[3]);

#endif
