/* workload.c: the demand of a VM at a time. It keeps no state. */
#include "sim/workload/workload.h"

#include "base/name_define.h"
#include "base/rng.h"

#include <math.h>

NAME_DEFINE(workload_kind, WORKLOAD_KINDS)

/* FNV-1a. */
#define HASH_BASIS 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

#define DAY_S 86400.0
#define WORKDAYS 5 /* of a week that begins on Monday */
#define WEEK 7
#define PARTS 8                       /* stretches of a day or period, at most */
#define BURSTS_MAX 255                /* in a cell of high_s + low_s; the mean is at most 11 */
#define OWN_SHIFT (UINT64_C(1) << 62) /* no index of an event */

uint64_t workload_seed(uint64_t seed, const char *name, const char *what)
{
    const char *const parts[] = {name, "/", what};
    uint64_t hash = HASH_BASIS;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (const char *c = parts[i]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * HASH_PRIME;
    }
    struct rng r = {.state = seed};

    return rng_next(&r) ^ hash;
}

/* A stream of random numbers for one place (a phase, a step) of one seed, independent of its neighbours. */
static struct rng draw(uint64_t seed, uint64_t place)
{
    /* Both halves are mixed first, or neighbouring streams would be one stream, shifted by a draw. */
    struct rng of_seed = {.state = seed};
    struct rng of_place = {.state = place};

    return (struct rng){.state = rng_next(&of_seed) ^ rng_next(&of_place)};
}

/* The interval between two multiples of a length, counted from an origin, that contains t. */
struct cell {
    double index;
    double begin, end;
};

static struct cell cell_at(double t, double origin, double length)
{
    double i = floor((t - origin) / length);

    /* A quotient is rounded, so the products decide: the instant at which one cell ends is in the next cell.
     */
    if (origin + (i + 1) * length <= t)
        i += 1;
    else if (origin + i * length > t)
        i -= 1;
    return (struct cell){.index = i, .begin = origin + i * length, .end = origin + (i + 1) * length};
}

/* The phase at t: high for high_s, then low for low_s. */
struct phase {
    bool high;
    uint64_t index; /* counts all phases, high and low */
    double begin, end;
};

static struct phase phase_at(const struct workload *w, double t)
{
    if (w->low_s <= 0 && w->high_s <= 0)
        return (struct phase){.high = true, .begin = -w->phase_s, .end = INFINITY};
    struct cell period = cell_at(t, -w->phase_s, w->high_s + w->low_s);
    double turn = period.begin + w->high_s;
    uint64_t index = (uint64_t)(int64_t)period.index * 2;

    if (w->low_s <= 0 || t < turn)
        return (struct phase){true, index, period.begin, w->low_s > 0 ? turn : period.end};
    return (struct phase){false, index + 1, turn, period.end};
}

static struct workload_value high_low_at(const struct workload *w, double t)
{
    struct phase p = phase_at(w, t);
    struct rng r = draw(w->seed, p.index);

    if (!p.high || w->n_levels == 0)
        return (struct workload_value){w->level, p.end};
    return (struct workload_value){w->levels[rng_below(&r, w->n_levels)], p.end};
}

static struct workload_value drawn_at(const struct workload *w, double t)
{
    struct phase p = phase_at(w, t);
    struct cell step = cell_at(t, p.begin, w->step_s);
    double around = p.high ? w->high : w->low;
    double spread = p.high ? w->high_spread : w->low_spread;
    struct rng of_phase = draw(w->seed, p.index);
    struct rng r = draw(of_phase.state, (uint64_t)(int64_t)step.index);
    double value = w->kind == WORKLOAD_NORMAL ? rng_normal(&r, around, spread)
                                              : rng_range(&r, around - spread, around + spread);

    return (struct workload_value){value, fmin(step.end, p.end)};
}

static struct workload_value spike_at(const struct workload *w, double t)
{
    if (t < w->from_s)
        return (struct workload_value){w->level, w->from_s};
    if (t < w->until_s)
        return (struct workload_value){w->high, w->until_s};
    return (struct workload_value){w->level, INFINITY};
}

/* The mean of a line over the step that contains t, so that the steps have the line's integral. Steps begin
 * with the line; the last one is cut at its end. */
static struct workload_value line_at(double t, double begin, double end, double from, double to, double step)
{
    struct cell c = cell_at(t, begin, step);
    double until = fmin(c.end, end);
    double middle = c.begin + (until - c.begin) / 2;

    return (struct workload_value){from + (to - from) * ((middle - begin) / (end - begin)), until};
}

static struct workload_value ramp_at(const struct workload *w, double t)
{
    if (t < w->from_s)
        return (struct workload_value){w->level, w->from_s};
    if (t < w->until_s)
        return line_at(t, w->from_s, w->until_s, w->level, w->high, w->step_s);
    return (struct workload_value){w->high, INFINITY};
}

/* The last sample at or before t, or the first one. */
static uint32_t sample_at(const struct trace *trace, double t)
{
    uint32_t low = 0;
    uint32_t high = trace->n;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (trace->time_s[mid] <= t)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static struct workload_value trace_at(const struct workload *w, double t)
{
    const struct trace *trace = w->trace;

    if (!trace || trace->n == 0)
        return (struct workload_value){0, INFINITY};
    bool again = w->repeat && trace->length_s > 0;
    struct cell whole = {.begin = -w->phase_s, .end = INFINITY};

    if (again)
        whole = cell_at(t, -w->phase_s, trace->length_s);
    double origin = whole.begin;
    double end = whole.end;
    uint32_t i = sample_at(trace, t - origin);

    /* As in cell_at(): the reported times are origin + time, so they decide. */
    if (i + 1 < trace->n && origin + trace->time_s[i + 1] <= t)
        i++;
    else if (i > 0 && t < origin + trace->time_s[i])
        i--;
    double now = trace->value[i];

    if (t < origin + trace->time_s[i]) /* before the first sample, which already holds */
        return (struct workload_value){now, fmin(end, origin + trace->time_s[i])};
    if (i + 1 == trace->n)
        return (struct workload_value){now, end};
    double next_s = origin + trace->time_s[i + 1];

    if (!w->linear || trace->value[i + 1] == now)
        return (struct workload_value){now, fmin(end, next_s)};
    struct workload_value v =
        line_at(t, origin + trace->time_s[i], next_s, now, trace->value[i + 1], w->step_s);

    v.until_s = fmin(v.until_s, end);
    return v;
}

/* ---- typical VMs -----------------------------------------------------------------------------
 *
 * Events (a burst, a surge, a job) are drawn from event_seed, so that a VM's CPU and memory have them at the
 * same time; the noise around a level is drawn from the workload's own seed, anew every step_s. */

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
    struct cell step = cell_at(t, s.begin, w->step_s);
    double until = fmin(step.end, s.end);
    double done = isfinite(s.end) ? (step.begin + (until - step.begin) / 2 - s.begin) / (s.end - s.begin) : 0;
    struct rng of_stretch = draw(w->seed, s.index);
    struct rng r = draw(of_stretch.state, (uint64_t)(int64_t)step.index);
    double mean = s.from + (s.to - s.from) * done;

    return (struct workload_value){rng_normal(&r, mean, s.from_spread + (s.to_spread - s.from_spread) * done),
                                   until};
}

static uint64_t index_of(struct cell c, unsigned part)
{
    return (uint64_t)(int64_t)c.index * PARTS + part;
}

/* Low, a rise of rise_s from `up_s` on, high, a fall of rise_s from `down_s` on, low: within a cell. */
static struct workload_value plateau_at(const struct workload *w, double t, struct cell c, double up_s,
                                        double down_s)
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
    struct rng r = draw(w->event_seed, OWN_SHIFT);
    double u = rng_unit(&r);

    return w->kind == WORKLOAD_OFFICE ? (2 * u - 1) * w->spread_s : u * w->spread_s;
}

/* ---- office ---------------------------------------------------------------------------------- */

/* phase_s: how much later than from_s and until_s this VM is. */
static struct workload_value office_at(const struct workload *w, double t)
{
    struct cell day = cell_at(t, w->phase_s - w->week_s, DAY_S);
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

static void look_at_cell(const struct workload *w, double t, struct cell c, struct beginnings *ret)
{
    struct rng r = draw(w->event_seed, (uint64_t)(int64_t)c.index);
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
static struct workload_value bursty_base(const struct workload *w, double t, struct cell c)
{
    return value_in(w, t, low(w, c.begin, c.end, (uint64_t)(int64_t)c.index * (BURSTS_MAX + 1) + BURSTS_MAX));
}

static struct workload_value bursty_at(const struct workload *w, double t)
{
    double length = w->high_s + w->low_s;
    struct cell c = cell_at(t, 0, length);
    struct cell before = {c.index - 1, (c.index - 1) * length, c.begin};
    struct beginnings b = {.last = -INFINITY, .next = INFINITY};

    look_at_cell(w, t, before, &b);
    b.next = INFINITY;
    look_at_cell(w, t, c, &b);
    double border = fmin(b.next, c.end);

    if (t < b.last + w->high_s) {
        struct rng r = draw(w->seed, b.index);

        return (struct workload_value){rng_normal(&r, w->high, w->high_spread),
                                       fmin(b.last + w->high_s, border)};
    }
    struct workload_value v = bursty_base(w, t, c);

    v.until_s = fmin(v.until_s, border);
    return v;
}

/* ---- surge ----------------------------------------------------------------------------------- */

/* phase_s: how much later than the others this VM rises. */
static struct workload_value surge_at(const struct workload *w, double t)
{
    bool again = w->every_s > 0;
    struct cell c = {.begin = w->from_s, .end = INFINITY};

    if (t < w->from_s)
        return value_in(w, t, low(w, 0, w->from_s, index_of((struct cell){.index = -1}, 0)));
    if (again)
        c = cell_at(t, w->from_s, w->every_s);
    struct rng common = draw(w->common_seed, (uint64_t)(int64_t)c.index);
    struct rng own = draw(w->event_seed, (uint64_t)(int64_t)c.index);

    if (rng_unit(&own) >= w->part)
        return value_in(w, t, low(w, c.begin, c.end, index_of(c, 0)));
    double begin = c.begin + w->vary_s * rng_unit(&common) + w->phase_s;

    return plateau_at(w, t, c, begin, begin + w->rise_s + w->high_s);
}

/* ---- batch ----------------------------------------------------------------------------------- */

/* phase_s: how much later than from_s this VM's jobs begin. A job takes from half to one and a half high_s.
 */
static struct workload_value batch_at(const struct workload *w, double t)
{
    double midnight = -(w->week_s - DAY_S * floor(w->week_s / DAY_S)); /* of the day of t = 0 */
    struct cell c = cell_at(t, midnight + w->from_s + w->phase_s, w->every_s);
    struct rng own = draw(w->event_seed, (uint64_t)(int64_t)c.index);
    double done = fmin(c.begin + w->high_s * (0.5 + rng_unit(&own)), c.end);

    if (t < done)
        return value_in(w, t, high(w, c.begin, done, index_of(c, 0)));
    return value_in(w, t, low(w, done, c.end, index_of(c, 1)));
}

/* ---- the value ---- */

static struct workload_value raw_at(const struct workload *w, double t)
{
    switch (w->kind) {
    case WORKLOAD_CONSTANT:
        return (struct workload_value){w->level, INFINITY};
    case WORKLOAD_HIGH_LOW:
        return high_low_at(w, t);
    case WORKLOAD_NORMAL:
    case WORKLOAD_UNIFORM:
        return drawn_at(w, t);
    case WORKLOAD_SPIKE:
        return spike_at(w, t);
    case WORKLOAD_RAMP:
        return ramp_at(w, t);
    case WORKLOAD_TRACE:
        return trace_at(w, t);
    case WORKLOAD_OFFICE:
        return office_at(w, t);
    case WORKLOAD_BURSTY:
        return bursty_at(w, t);
    case WORKLOAD_SURGE:
        return surge_at(w, t);
    case WORKLOAD_BATCH:
        return batch_at(w, t);
    case workload_kind_count:
        break;
    }
    return (struct workload_value){0, INFINITY};
}

struct workload_value workload_at(const struct workload *w, double t_s)
{
    struct workload_value v = raw_at(w, t_s);

    v.value = fmin(fmax(v.value * w->scale, 0), w->max);
    if (!(v.until_s > t_s)) /* the step is too short for a double at this time */
        v.until_s = nextafter(t_s, INFINITY);
    return v;
}
