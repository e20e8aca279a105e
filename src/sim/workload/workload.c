/* workload.c: the demand of a VM at a time. It keeps no state. */
#include "sim/workload/workload.h"

#include "base/name_define.h"
#include "sim/workload/generators.h"

#include <math.h>

NAME_DEFINE(workload_kind, WORKLOAD_KINDS)

/* FNV-1a. */
#define HASH_BASIS 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

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

struct rng workload_draw(uint64_t seed, uint64_t place)
{
    /* Both halves are mixed first, or neighbouring streams would be one stream, shifted by a draw. */
    struct rng of_seed = {.state = seed};
    struct rng of_place = {.state = place};

    return (struct rng){.state = rng_next(&of_seed) ^ rng_next(&of_place)};
}

struct workload_cell workload_cell_at(double t, double origin, double length)
{
    double i = floor((t - origin) / length);

    /* A quotient is rounded, so the products decide: the instant at which one cell ends is in the next cell.
     */
    if (origin + (i + 1) * length <= t)
        i += 1;
    else if (origin + i * length > t)
        i -= 1;
    return (struct workload_cell){.index = i, .begin = origin + i * length, .end = origin + (i + 1) * length};
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
    struct workload_cell period = workload_cell_at(t, -w->phase_s, w->high_s + w->low_s);
    double turn = period.begin + w->high_s;
    uint64_t index = (uint64_t)(int64_t)period.index * 2;

    if (w->low_s <= 0 || t < turn)
        return (struct phase){true, index, period.begin, w->low_s > 0 ? turn : period.end};
    return (struct phase){false, index + 1, turn, period.end};
}

static struct workload_value high_low_at(const struct workload *w, double t)
{
    struct phase p = phase_at(w, t);
    struct rng r = workload_draw(w->seed, p.index);

    if (!p.high || w->n_levels == 0)
        return (struct workload_value){w->level, p.end};
    return (struct workload_value){w->levels[rng_below(&r, w->n_levels)], p.end};
}

static struct workload_value drawn_at(const struct workload *w, double t)
{
    struct phase p = phase_at(w, t);
    struct workload_cell step = workload_cell_at(t, p.begin, w->step_s);
    double around = p.high ? w->high : w->low;
    double spread = p.high ? w->high_spread : w->low_spread;
    struct rng of_phase = workload_draw(w->seed, p.index);
    struct rng r = workload_draw(of_phase.state, (uint64_t)(int64_t)step.index);
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
    struct workload_cell c = workload_cell_at(t, begin, step);
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
    struct workload_cell whole = {.begin = -w->phase_s, .end = INFINITY};

    if (again)
        whole = workload_cell_at(t, -w->phase_s, trace->length_s);
    double origin = whole.begin;
    double end = whole.end;
    uint32_t i = sample_at(trace, t - origin);

    /* As in workload_cell_at(): the reported times are origin + time, so they decide. */
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
        return generators_office_at(w, t);
    case WORKLOAD_BURSTY:
        return generators_bursty_at(w, t);
    case WORKLOAD_SURGE:
        return generators_surge_at(w, t);
    case WORKLOAD_BATCH:
        return generators_batch_at(w, t);
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
