/* generators.c: office, bursty, surge, batch. Their parameters and defaults are scenario/workloads.c's. */
#include "sim/workload/generators.h"

#include <math.h>

#define DAY_S 86400.0
#define WORKDAYS 5 /* of a week that begins on Monday */
#define WEEK 7
#define PARTS 8                       /* stretches of a day or period, at most */
#define BURSTS_MAX 255                /* in a cell of high_s + low_s; the mean is at most 11 */
#define OWN_SHIFT (UINT64_C(1) << 62) /* no index of an event */

/* A part of a workload whose mean is a level or a line. */
struct stretch {
    double begin, end;
    double from, to;               /* the mean at either end */
    double from_spread, to_spread; /* standard deviation of the noise */
    uint64_t index;                /* no other stretch of the workload has it */
};

static struct stretch level(double begin, double end, double mean, double spread, uint64_t index)
{
    return (struct stretch){begin, end, mean, mean, spread, spread, index};
}

static struct stretch low(const struct workload *w, double begin, double end, uint64_t index)
{
    return level(begin, end, w->low, w->low_spread, index);
}

static struct stretch high(const struct workload *w, double begin, double end, uint64_t index)
{
    return level(begin, end, w->high, w->high_spread, index);
}

static struct stretch rise(const struct workload *w, double begin, double end, uint64_t index)
{
    return (struct stretch){begin, end, w->low, w->high, w->low_spread, w->high_spread, index};
}

static struct stretch fall(const struct workload *w, double begin, double end, uint64_t index)
{
    return (struct stretch){begin, end, w->high, w->low, w->high_spread, w->low_spread, index};
}

/* The value in a stretch: steps begin with it, and each has the mean of its middle and noise of its own. */
static struct workload_value value_in(const struct workload *w, double t, struct stretch s)
{
    if (s.from == s.to && !(s.from_spread > 0) && !(s.to_spread > 0))
        return (struct workload_value){s.from, s.end};
    struct workload_cell step = workload_cell_at(t, s.begin, w->step_s);
    double until = fmin(step.end, s.end);
    double done = isfinite(s.end) ? (step.begin + (until - step.begin) / 2 - s.begin) / (s.end - s.begin) : 0;
    struct rng of_stretch = workload_draw(w->seed, s.index);
    struct rng r = workload_draw(of_stretch.state, (uint64_t)(int64_t)step.index);
    double mean = s.from + (s.to - s.from) * done;

    return (struct workload_value){rng_normal(&r, mean, s.from_spread + (s.to_spread - s.from_spread) * done),
                                   until};
}

static uint64_t index_of(struct workload_cell c, unsigned part)
{
    return (uint64_t)(int64_t)c.index * PARTS + part;
}

/* Low, a rise of rise_s from `up_s` on, high, a fall of rise_s from `down_s` on, low: within a cell. */
static struct workload_value plateau_at(const struct workload *w, double t, struct workload_cell c,
                                        double up_s, double down_s)
{
    const double border[] = {fmin(up_s, c.end), fmin(up_s + w->rise_s, c.end), fmin(down_s, c.end),
                             fmin(down_s + w->rise_s, c.end)};

    if (t < border[0])
        return value_in(w, t, low(w, c.begin, border[0], index_of(c, 0)));
    if (t < border[1])
        return value_in(w, t, rise(w, border[0], border[1], index_of(c, 1)));
    if (t < border[2])
        return value_in(w, t, high(w, border[1], border[2], index_of(c, 2)));
    if (t < border[3])
        return value_in(w, t, fall(w, border[2], border[3], index_of(c, 3)));
    return value_in(w, t, low(w, border[3], c.end, index_of(c, 4)));
}

double workload_own_shift(const struct workload *w)
{
    struct rng r = workload_draw(w->event_seed, OWN_SHIFT);
    double u = rng_unit(&r);

    return w->kind == WORKLOAD_OFFICE ? (2 * u - 1) * w->spread_s : u * w->spread_s;
}

/* ---- office ---------------------------------------------------------------------------------- */

/* phase_s: how much later than from_s and until_s this VM is. */
struct workload_value generators_office_at(const struct workload *w, double t)
{
    struct workload_cell day = workload_cell_at(t, w->phase_s - w->week_s, DAY_S);
    double weekday = day.index - WEEK * floor(day.index / WEEK);

    if (weekday >= WORKDAYS)
        return value_in(w, t, low(w, day.begin, day.end, index_of(day, 0)));
    return plateau_at(w, t, day, day.begin + w->from_s, day.begin + w->until_s);
}

/* ---- bursty ---------------------------------------------------------------------------------- */

/* Exponentially distributed with mean 1, from comparisons alone (von Neumann 1951, "Various techniques used
 * in connection with random digits"): no libm, so the same bits on every machine. A run of falling numbers is
 * of odd length with probability exp(-first); else a whole unit passes. */
static double exponential(struct rng *r)
{
    for (double whole = 0;; whole += 1) {
        double first = rng_unit(r);
        double last = first;
        unsigned length = 1;

        for (double next = rng_unit(r); next < last; next = rng_unit(r), length++)
            last = next;
        if (length % 2 == 1)
            return whole + first;
    }
}

/* The bursts that begin in a cell of high_s + low_s: with exponential gaps a cell does not know of the one
 * before it, so the beginnings are drawn cell by cell. What matters to t: the last beginning at or before it,
 * and the next one in the cell. */
struct beginnings {
    double last, next; /* -INFINITY, INFINITY: none */
    uint64_t index;    /* of the last one */
};

static void look_at_cell(const struct workload *w, double t, struct workload_cell c, struct beginnings *ret)
{
    struct rng r = workload_draw(w->event_seed, (uint64_t)(int64_t)c.index);
    double begin = c.begin;

    for (unsigned i = 0; i < BURSTS_MAX; i++) {
        begin += exponential(&r) * w->low_s;
        if (begin >= c.end)
            return;
        if (begin > t) {
            ret->next = begin;
            return;
        }
        ret->last = begin;
        ret->index = (uint64_t)(int64_t)c.index * (BURSTS_MAX + 1) + i;
    }
}

/* The noise of the base has steps of the cell, so that it is the same in whatever order it is asked for. */
static struct workload_value bursty_base(const struct workload *w, double t, struct workload_cell c)
{
    return value_in(w, t, low(w, c.begin, c.end, (uint64_t)(int64_t)c.index * (BURSTS_MAX + 1) + BURSTS_MAX));
}

struct workload_value generators_bursty_at(const struct workload *w, double t)
{
    double length = w->high_s + w->low_s;
    struct workload_cell c = workload_cell_at(t, 0, length);
    struct workload_cell before = {c.index - 1, (c.index - 1) * length, c.begin};
    struct beginnings b = {.last = -INFINITY, .next = INFINITY};

    look_at_cell(w, t, before, &b);
    b.next = INFINITY;
    look_at_cell(w, t, c, &b);
    double border = fmin(b.next, c.end);

    if (t < b.last + w->high_s) {
        struct rng r = workload_draw(w->seed, b.index);

        return (struct workload_value){rng_normal(&r, w->high, w->high_spread),
                                       fmin(b.last + w->high_s, border)};
    }
    struct workload_value v = bursty_base(w, t, c);

    v.until_s = fmin(v.until_s, border);
    return v;
}

/* ---- surge ----------------------------------------------------------------------------------- */

/* phase_s: how much later than the others this VM rises. */
struct workload_value generators_surge_at(const struct workload *w, double t)
{
    bool again = w->every_s > 0;
    struct workload_cell c = {.begin = w->from_s, .end = INFINITY};

    if (t < w->from_s)
        return value_in(w, t, low(w, 0, w->from_s, index_of((struct workload_cell){.index = -1}, 0)));
    if (again)
        c = workload_cell_at(t, w->from_s, w->every_s);
    struct rng common = workload_draw(w->common_seed, (uint64_t)(int64_t)c.index);
    struct rng own = workload_draw(w->event_seed, (uint64_t)(int64_t)c.index);

    if (rng_unit(&own) >= w->part)
        return value_in(w, t, low(w, c.begin, c.end, index_of(c, 0)));
    double begin = c.begin + w->vary_s * rng_unit(&common) + w->phase_s;

    return plateau_at(w, t, c, begin, begin + w->rise_s + w->high_s);
}

/* ---- batch ----------------------------------------------------------------------------------- */

/* phase_s: how much later than from_s this VM's jobs begin. A job takes from half to one and a half high_s.
 */
struct workload_value generators_batch_at(const struct workload *w, double t)
{
    double midnight = -(w->week_s - DAY_S * floor(w->week_s / DAY_S)); /* of the day of t = 0 */
    struct workload_cell c = workload_cell_at(t, midnight + w->from_s + w->phase_s, w->every_s);
    struct rng own = workload_draw(w->event_seed, (uint64_t)(int64_t)c.index);
    double done = fmin(c.begin + w->high_s * (0.5 + rng_unit(&own)), c.end);

    if (t < done)
        return value_in(w, t, high(w, c.begin, done, index_of(c, 0)));
    return value_in(w, t, low(w, done, c.end, index_of(c, 1)));
}
