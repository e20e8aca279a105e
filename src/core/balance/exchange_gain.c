/* Computes what moving load between hosts gains, and bounds it. */
#include "core/balance/exchange_gain.h"

/* What a bound may be below a gain by rounding: a deviation near 0 is the root of a difference. */
#define ROUNDING 1e-7

struct sums exchange_gain_now(const struct move_score *s)
{
    struct sums x;

    for (int r = 0; r < RES_COUNT; r++) {
        x.sum[r] = s->l->sum[r];
        x.squares[r] = s->l->sum_squares[r];
    }
    return x;
}

static double demand_of(const struct layout *l, int r, uint32_t unit)
{
    return unit == IX_NONE ? 0 : l->unit_demand[r][unit];
}

/* Changes the load of a slot by those of the units that it gives and takes (IX_NONE: none). */
void exchange_gain_shift(const struct move_score *s, struct sums *x, uint32_t slot, uint32_t gives,
                         uint32_t takes)
{
    const struct layout *l = s->l;

    for (int r = 0; r < RES_COUNT; r++) {
        double by = (demand_of(l, r, takes) - demand_of(l, r, gives)) * l->inverse[r][slot];
        x->sum[r] += by;
        x->squares[r] += (2 * l->norm[r][slot] + by) * by;
    }
}

/* N of a slot that gives and takes these units. */
double exchange_gain_norm(const struct move_score *s, int r, uint32_t slot, uint32_t gives, uint32_t takes)
{
    const struct layout *l = s->l;

    return l->norm[r][slot] + (demand_of(l, r, takes) - demand_of(l, r, gives)) * l->inverse[r][slot];
}

/* from, to: with these N, in a state with these sums. */
struct parabolas exchange_gain_between(const struct move_score *s, const struct sums *x, uint32_t from,
                                       const double norm_from[RES_COUNT], uint32_t to,
                                       const double norm_to[RES_COUNT])
{
    struct parabolas p;
    double n = s->l->n_on;

    for (int r = 0; r < RES_COUNT; r++) {
        double ifrom = s->l->inverse[r][from];
        double ito = s->l->inverse[r][to];
        double mean = x->sum[r] / n;
        double shifts = (ito - ifrom) / n;
        p.a[r] = x->squares[r] / n - mean * mean;
        p.b[r] = 2 * (norm_to[r] * ito - norm_from[r] * ifrom) / n - 2 * mean * shifts;
        p.c[r] = (ifrom * ifrom + ito * ito) / n - shifts * shifts;
    }
    return p;
}

static double gain_of_variances(const struct move_score *s, double cpu, double mem)
{
    return s->imbalance - s->weight[RES_CPU] * sqrt(cpu > 0 ? cpu : 0) -
           s->weight[RES_MEM] * sqrt(mem > 0 ? mem : 0);
}

double exchange_gain_at(const struct move_score *s, const struct parabolas *p, double cpu, double mem)
{
    return gain_of_variances(s, p->a[RES_CPU] + (p->b[RES_CPU] + p->c[RES_CPU] * cpu) * cpu,
                             p->a[RES_MEM] + (p->b[RES_MEM] + p->c[RES_MEM] * mem) * mem);
}

double exchange_gain_most(const struct move_score *s, const struct parabolas *p)
{
    return exchange_gain_most_up_to(s, p, NO_LIMIT, NO_LIMIT);
}

/* The least variance, at the vertex if the amount may be so large. */
static double least_variance(const struct parabolas *p, int r, double most)
{
    double vertex = -p->b[r] / (2 * p->c[r]);
    double amount = vertex < most ? vertex : most;

    return p->a[r] + (p->b[r] + p->c[r] * amount) * amount;
}

double exchange_gain_most_up_to(const struct move_score *s, const struct parabolas *p, double cpu, double mem)
{
    return ROUNDING + gain_of_variances(s, least_variance(p, RES_CPU, cpu), least_variance(p, RES_MEM, mem));
}

/* The least deviation of a resource that any division of the three slots' load among them could reach. There
 * all N differ from the mean by a multiple λ of their capacity, because the variance is convex. */
static double least_stddev(const struct move_score *s, const uint32_t slots[3], int r)
{
    const struct layout *l = s->l;
    double n = l->n_on;
    double others = l->sum[r];
    double squares = l->sum_squares[r];
    double load = 0;
    double capacity = 0;
    double capacity_squares = 0;

    for (int i = 0; i < 3; i++) {
        double norm = l->norm[r][slots[i]];
        double c = 1 / l->inverse[r][slots[i]];
        others -= norm;
        squares -= norm * norm;
        load += norm * c;
        capacity += c;
        capacity_squares += c * c;
    }
    double left = n - 3;
    double lambda =
        left > 0 ? (load - others * capacity / left) / (capacity * capacity / left + capacity_squares) : 0;
    double mean = left > 0 ? (others + lambda * capacity) / left : load / capacity;
    for (int i = 0; i < 3; i++) {
        double norm = mean + lambda / l->inverse[r][slots[i]];
        squares += norm * norm;
    }
    double variance = squares / n - mean * mean;
    return sqrt(variance > 0 ? variance : 0);
}

/* The most that any division of the slots' load among them could gain. */
double exchange_gain_most_among(const struct move_score *s, const uint32_t slots[3])
{
    double imbalance = 0;

    for (int r = 0; r < RES_COUNT; r++)
        imbalance += s->weight[r] * least_stddev(s, slots, r);
    return s->imbalance - imbalance + ROUNDING;
}
