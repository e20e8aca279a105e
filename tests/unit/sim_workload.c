/* The demand of a VM over time: each kind at and around its borders, and the properties of every kind. */
#include "unit.h"

#include "base/rng.h"
#include "sim/workload/workload.h"

#include <math.h>
#include <stdio.h>

static double trace_times[] = {0, 300, 600, 1500};
static double trace_values[] = {10, 30, 30, 90};
static const double levels[] = {600, 1800};
static const struct trace four = {trace_times, trace_values, 4, 1800};
static double late_times[] = {100};
static double late_values[] = {7};
static const struct trace late = {late_times, late_values, 1, 400};
static const struct trace empty = {NULL, NULL, 0, 0};

#define COMMON .scale = 1, .max = 1e9, .step_s = 60

static bool near(double a, double b, double by)
{
    return fabs(a - b) <= by;
}

static const struct {
    const char *what;
    struct workload w;
    double t, value, until;
} at[] = {
    {"constant", {WORKLOAD_CONSTANT, .level = 220, COMMON}, 1e6, 220, INFINITY},
    {"never above what it can use",
     {WORKLOAD_CONSTANT, .level = 220, .scale = 1, .max = 200},
     0,
     200,
     INFINITY},
    {"scaled", {WORKLOAD_CONSTANT, .level = 220, .scale = 0.5, .max = 1e9}, 0, 110, INFINITY},
    {"spike, before",
     {WORKLOAD_SPIKE, .level = 5, .high = 50, .from_s = 10, .until_s = 20, COMMON},
     9.5,
     5,
     10},
    {"spike, from",
     {WORKLOAD_SPIKE, .level = 5, .high = 50, .from_s = 10, .until_s = 20, COMMON},
     10,
     50,
     20},
    {"spike, after",
     {WORKLOAD_SPIKE, .level = 5, .high = 50, .from_s = 10, .until_s = 20, COMMON},
     20,
     5,
     INFINITY},
    {"ramp, before",
     {WORKLOAD_RAMP, .level = 0, .high = 100, .from_s = 60, .until_s = 210, COMMON},
     0,
     0,
     60},
    {"ramp, its first step has the mean",
     {WORKLOAD_RAMP, .level = 0, .high = 150, .from_s = 60, .until_s = 210, COMMON},
     60,
     30,
     120},
    {"ramp, its last step is shorter",
     {WORKLOAD_RAMP, .level = 0, .high = 150, .from_s = 60, .until_s = 210, COMMON},
     190,
     135,
     210},
    {"ramp, after",
     {WORKLOAD_RAMP, .level = 0, .high = 100, .from_s = 60, .until_s = 210, COMMON},
     210,
     100,
     INFINITY},
    {"low phase",
     {WORKLOAD_HIGH_LOW, .level = 100, .levels = levels, .n_levels = 2, .high_s = 600, .low_s = 300, COMMON},
     600,
     100,
     900},
    {"phase",
     {WORKLOAD_HIGH_LOW, .level = 100, .levels = levels, .n_levels = 2, .high_s = 600, .low_s = 300,
      .phase_s = 650, COMMON},
     0,
     100,
     250},
    {"low phase, drawn",
     {WORKLOAD_NORMAL, .high = 1000, .low = 300, .high_s = 600, .low_s = 90, COMMON},
     665,
     300,
     690},
    {"normal without phases", {WORKLOAD_NORMAL, .high = 1000, COMMON}, 125, 1000, 180},
    {"trace", {WORKLOAD_TRACE, .trace = &four, COMMON}, 0, 10, 300},
    {"trace, a gap holds", {WORKLOAD_TRACE, .trace = &four, COMMON}, 1499, 30, 1500},
    {"trace, ended", {WORKLOAD_TRACE, .trace = &four, COMMON}, 5000, 90, INFINITY},
    {"trace, to its end", {WORKLOAD_TRACE, .trace = &four, .repeat = true, COMMON}, 1700, 90, 1800},
    {"trace, again", {WORKLOAD_TRACE, .trace = &four, .repeat = true, COMMON}, 1800 + 310, 30, 1800 + 600},
    {"trace, begun in the middle", {WORKLOAD_TRACE, .trace = &four, .phase_s = 550, COMMON}, 0, 30, 50},
    {"trace, a line in steps", {WORKLOAD_TRACE, .trace = &four, .linear = true, COMMON}, 60, 16, 120},
    {"trace, a flat line is one step",
     {WORKLOAD_TRACE, .trace = &four, .linear = true, COMMON},
     300,
     30,
     600},
    {"trace, the last sample has no line",
     {WORKLOAD_TRACE, .trace = &four, .linear = true, COMMON},
     1500,
     90,
     INFINITY},
    {"trace, before the first sample", {WORKLOAD_TRACE, .trace = &late, COMMON}, 0, 7, 100},
    {"trace, of one sample, again", {WORKLOAD_TRACE, .trace = &late, .repeat = true, COMMON}, 450, 7, 500},
    {"trace, empty", {WORKLOAD_TRACE, .trace = &empty, COMMON}, 0, 0, INFINITY},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(at); i++) {
        struct workload_value v = workload_at(&at[i].w, at[i].t);
        if (fabs(v.value - at[i].value) > 1e-9 || v.until_s != at[i].until)
            fail_msg("%s: %.12g until %.12g", at[i].what, v.value, v.until_s);
    }
}

/* Of every kind, with sizes that are no round doubles. */
static struct workload any(struct rng *r, enum workload_kind kind)
{
    double from = rng_range(r, 0, 1000);

    return (struct workload){
        .kind = kind,
        .seed = rng_next(r),
        .level = rng_range(r, 0, 2000),
        .high = rng_range(r, 0, 2000),
        .low = rng_range(r, 0, 2000),
        .high_spread = rng_range(r, 0, 2000),
        .low_spread = rng_range(r, 0, 2000),
        .high_s = rng_range(r, 1, 1000),
        .low_s = kind == WORKLOAD_BURSTY || rng_below(r, 2) ? rng_range(r, 100, 1000) : 0,
        .step_s = rng_range(r, 1, 100),
        .phase_s = rng_below(r, 2) ? rng_range(r, 0, 5000) : 0,
        .from_s = from,
        .until_s = from + rng_range(r, 0.1, 3000),
        .levels = levels,
        .n_levels = 2,
        .trace = rng_below(r, 2) ? &four : &late,
        .scale = rng_range(r, 0.1, 3),
        .linear = rng_below(r, 2),
        .repeat = rng_below(r, 2),
        .max = rng_range(r, 100, 3000),
        .rise_s = rng_below(r, 2) ? rng_range(r, 1, 3000) : 0,
        .spread_s = rng_range(r, 0, 3000),
        .every_s = rng_range(r, 1, 9000),
        .vary_s = rng_range(r, 0, 3000),
        .part = rng_range(r, 0, 1),
        .week_s = rng_range(r, 0, 7 * 86400),
        .event_seed = rng_next(r),
        .common_seed = rng_next(r),
    };
}

/* Whoever walks from change to change sees each value, ends everywhere, and looks at the same thing as who
 * asks in between. */
static void test_walk(void **state)
{
    struct rng r = {.state = 7};

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct workload w = any(&r, (enum workload_kind)(round % workload_kind_count));
        double t = 0;
        for (unsigned steps = 0; t < 20000; steps++) {
            struct workload_value v = workload_at(&w, t);
            assert_true(v.value >= 0 && v.value <= w.max);
            assert_true(v.until_s > t);
            assert_true(steps < 100000);
            if (isinf(v.until_s))
                break;
            struct workload_value between = workload_at(&w, t + (v.until_s - t) * rng_unit(&r));
            assert_true(between.value == v.value && between.until_s == v.until_s);
            between = workload_at(&w, nextafter(v.until_s, 0));
            assert_true(between.value == v.value && between.until_s == v.until_s);
            t = v.until_s;
        }
    }
}

/* A line's steps have its integral. */
static void test_integral(void **state)
{
    const struct workload lines[] = {
        {WORKLOAD_RAMP, .level = 100, .high = 700, .from_s = 100, .until_s = 1033, COMMON},
        {WORKLOAD_TRACE, .trace = &four, .linear = true, .scale = 1, .max = 1e9, .step_s = 47},
    };
    const double expected[] = {100 * 100 + 400 * 933 + 700 * (1500 - 1033), 20 * 300 + 30 * 300 + 60 * 900};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(lines); i++) {
        double sum = 0;
        for (double t = 0; t < 1500;) {
            struct workload_value v = workload_at(&lines[i], t);
            double until = fmin(v.until_s, 1500);
            sum += v.value * (until - t);
            t = until;
        }
        assert_true(near(sum, expected[i], 1e-6 * expected[i]));
    }
}

/* Both levels come up, about as often; each high phase draws anew. */
static void test_high_low_draws(void **state)
{
    struct workload w = {WORKLOAD_HIGH_LOW, .level = 1, .levels = levels, .n_levels = 2, .high_s = 10,
                         .low_s = 10,       COMMON};
    unsigned high = 0, changes = 0;
    double before = 0;

    (void)state;
    w.seed = workload_seed(1, "vm-001", "cpu");
    for (int i = 0; i < 1000; i++) {
        double v = workload_at(&w, i * 20).value;
        assert_true(v == 600 || v == 1800);
        assert_true(workload_at(&w, i * 20 + 10).value == 1);
        high += v == 1800;
        changes += v != before;
        before = v;
    }
    assert_in_range(high, 450, 550);
    assert_in_range(changes, 450, 550);
}

/* Mean and spread of what is drawn, and that neighbours have nothing to do with each other. */
static void test_draws(void **state)
{
    struct workload w = {WORKLOAD_NORMAL, .high = 1000, .high_spread = 100,
                         .step_s = 60,    .scale = 1,   .max = 1e9};

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        double sum = 0, squares = 0, products = 0, before = 0;
        int n = 20000;
        w.kind = kind ? WORKLOAD_UNIFORM : WORKLOAD_NORMAL;
        w.seed = workload_seed(3, "vm-001", "cpu");
        for (int i = 0; i < n; i++) {
            double d = workload_at(&w, i * 60).value - 1000;
            sum += d;
            squares += d * d;
            products += d * before;
            before = d;
        }
        assert_true(near(sum / n, 0, 3));
        assert_true(near(sqrt(squares / n), kind ? 100 / sqrt(3) : 100, 3));
        assert_true(near(products / squares, 0, 0.03));
    }
}

/* ---- generators ---- */

#define DAY 86400.0
#define HOUR 3600.0

static struct workload generated(enum workload_kind kind, uint64_t vm)
{
    struct workload w = {
        .kind = kind,
        .high = 1000,
        .low = 100,
        .high_spread = 100,
        .low_spread = 10,
        COMMON,
        .from_s = 8 * HOUR,
        .until_s = 17 * HOUR,
        .rise_s = HOUR,
        .spread_s = HOUR,
        .high_s = 300,
        .low_s = HOUR,
        .every_s = DAY,
        .vary_s = 2 * HOUR,
        .part = 0.8,
        .common_seed = 77,
    };
    char name[32];

    (void)snprintf(name, sizeof name, "vm-%03u", (unsigned)vm);
    w.seed = workload_seed(1, name, "cpu");
    w.event_seed = workload_seed(1, name, "events");
    w.phase_s = workload_own_shift(&w);
    return w;
}

static double mean_between(const struct workload *w, double from, double until)
{
    double sum = 0;

    for (double t = from; t < until;) {
        struct workload_value v = workload_at(w, t);
        double end = fmin(v.until_s, until);
        sum += v.value * (end - t);
        t = end;
    }
    return sum / (until - from);
}

/* By night and on weekends low, by day high; when a VM begins is its own, within spread_s. */
static void test_office(void **state)
{
    double earliest = DAY, latest = 0;

    (void)state;
    for (uint64_t vm = 0; vm < 200; vm++) {
        struct workload w = generated(WORKLOAD_OFFICE, vm);
        assert_true(fabs(w.phase_s) <= HOUR);
        earliest = fmin(earliest, w.phase_s);
        latest = fmax(latest, w.phase_s);
        for (int day = 0; day < 14; day++) {
            bool weekend = day % 7 >= 5;
            assert_true(near(mean_between(&w, day * DAY + 10 * HOUR, day * DAY + 16 * HOUR),
                             weekend ? 100 : 1000, 40));
            assert_true(near(mean_between(&w, day * DAY, day * DAY + 7 * HOUR), 100, 4));
        }
        double up = DAY + w.from_s + w.phase_s; /* half way up the mean is half of both */
        assert_true(near(mean_between(&w, up, up + HOUR), 550, 50));
    }
    assert_true(earliest < -0.9 * HOUR && latest > 0.9 * HOUR);
}

/* The day of the week is the calendar's, whenever the scenario begins. */
static void test_office_begins_on_saturday(void **state)
{
    struct workload w = generated(WORKLOAD_OFFICE, 1);

    (void)state;
    w.week_s = 5 * DAY + 6 * HOUR; /* Saturday, six in the morning */
    assert_true(near(mean_between(&w, 4 * HOUR, 10 * HOUR), 100, 4));
    assert_true(near(mean_between(&w, DAY + 4 * HOUR, DAY + 10 * HOUR), 100, 4));
    assert_true(near(mean_between(&w, 2 * DAY + 4 * HOUR, 2 * DAY + 10 * HOUR), 1000, 40));
}

struct bursts {
    double gaps[20000];
    size_t n;
    double high_s;
};

/* A burst is higher than the base can be. */
static void find_bursts(const struct workload *w, double until, struct bursts *ret)
{
    double idle_since = 0;
    bool in_burst = false;

    for (double t = 0; t < until;) {
        struct workload_value v = workload_at(w, t);
        bool high = v.value > 300;
        if (high && !in_burst && ret->n < ELEMENTS(ret->gaps))
            ret->gaps[ret->n++] = t - idle_since;
        ret->high_s += high ? v.until_s - t : 0;
        idle_since = high ? v.until_s : idle_since;
        in_burst = high;
        t = v.until_s;
    }
}

/* Gaps are exponential: mean and standard deviation are low_s, and e^-1 of them are longer. A burst lasts
 * high_s, and those that overlap are one, so the part of the time in bursts is 1 - e^(-high_s / low_s). */
static void test_bursts(void **state)
{
    static struct bursts b;
    struct workload w = generated(WORKLOAD_BURSTY, 5);
    double until = 5000 * HOUR, sum = 0, squares = 0;
    size_t longer = 0;

    (void)state;
    find_bursts(&w, until, &b);
    for (size_t i = 0; i < b.n; i++) {
        sum += b.gaps[i];
        squares += b.gaps[i] * b.gaps[i];
        longer += b.gaps[i] > HOUR;
    }
    double n = (double)b.n, mean = sum / n;
    assert_true(near(mean, HOUR, 0.05 * HOUR));
    assert_true(near(sqrt(squares / n - mean * mean), HOUR, 0.07 * HOUR));
    assert_true(near((double)longer / n, exp(-1), 0.03));
    assert_true(near(b.high_s / until, 1 - exp(-300 / HOUR), 0.005));
}

static double correlation(const struct workload *a, const struct workload *b, double step, int n)
{
    double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;

    for (int i = 0; i < n; i++) {
        double x = workload_at(a, i * step).value, y = workload_at(b, i * step).value;
        sum_a += x;
        sum_b += y;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    double cov = ab - sum_a * sum_b / n;
    return cov / sqrt((aa - sum_a * sum_a / n) * (bb - sum_b * sum_b / n));
}

/* Bursts of two VMs have nothing to do with each other; those of a VM's two resources are the same. */
static void test_bursts_are_independent(void **state)
{
    struct workload a = generated(WORKLOAD_BURSTY, 1), b = generated(WORKLOAD_BURSTY, 2), mem = a;

    (void)state;
    mem.seed = workload_seed(1, "vm-001", "mem");
    assert_true(near(correlation(&a, &b, 100, 50000), 0, 0.03));
    assert_true(correlation(&a, &mem, 100, 50000) > 0.9);
}

/* In each period most VMs are high within spread_s of each other; which are not differs. Periods differ by up
 * to vary_s, alike for all VMs. */
static void test_surge(void **state)
{
    enum { VMS = 300, PERIODS = 10 };
    unsigned rose[VMS] = {0};
    double begins[PERIODS];

    (void)state;
    for (int k = 0; k < PERIODS; k++) {
        double first = INFINITY, last = 0;
        unsigned n = 0;
        for (uint64_t vm = 0; vm < VMS; vm++) {
            struct workload w = generated(WORKLOAD_SURGE, vm);
            double from = w.from_s + k * w.every_s, t = from;
            w.spread_s = 120;
            w.rise_s = 0;
            w.high_s = HOUR;
            w.phase_s = workload_own_shift(&w);
            while (t < from + DAY && workload_at(&w, t).value < 300)
                t = workload_at(&w, t).until_s;
            if (t >= from + DAY)
                continue;
            first = fmin(first, t);
            last = fmax(last, t);
            rose[vm]++;
            n++;
            assert_true(near(mean_between(&w, t, t + HOUR), 1000, 60));
            assert_true(workload_at(&w, t + HOUR + 1).value < 300);
        }
        assert_in_range(n, 210, 270); /* 0.8 of 300 */
        assert_true(last - first <= 120 && last - first > 100);
        begins[k] = first - 8 * HOUR - k * DAY;
        assert_true(begins[k] >= 0 && begins[k] <= 2 * HOUR);
    }
    assert_true(fabs(begins[0] - begins[1]) > 1);
    for (int vm = 0; vm < VMS; vm++)
        assert_in_range(rose[vm], 1, PERIODS);
}

static void test_surge_once(void **state)
{
    struct workload w = generated(WORKLOAD_SURGE, 1);

    (void)state;
    w.every_s = 0;
    w.part = 1;
    w.high_s = HOUR;
    assert_true(near(mean_between(&w, 0, 8 * HOUR), 100, 4));
    assert_true(mean_between(&w, 8 * HOUR, 13 * HOUR) > 250);
    assert_true(near(mean_between(&w, 14 * HOUR, 80 * HOUR), 100, 4));
}

/* One job a period, at high all the time, from half to one and a half high_s long. */
static void test_batch(void **state)
{
    double shortest = INFINITY, longest = 0, sum = 0;
    int n = 0;

    (void)state;
    for (uint64_t vm = 0; vm < 100; vm++) {
        struct workload w = generated(WORKLOAD_BATCH, vm);
        w.high_s = HOUR;
        w.high_spread = 0;
        w.from_s = 22 * HOUR;
        w.week_s = 2 * DAY + 5 * HOUR; /* begins at five in the morning */
        assert_true(w.phase_s >= 0 && w.phase_s < HOUR);
        for (int day = 0; day < 10; day++, n++) {
            double begin = 17 * HOUR + w.phase_s + day * DAY;
            double high_s = 0;
            for (double t = begin - HOUR; t < begin + 3 * HOUR;) {
                struct workload_value v = workload_at(&w, t);
                assert_true(v.value < 300 || (v.value == 1000 && t >= begin - 1e-6));
                high_s += v.value == 1000 ? v.until_s - t : 0;
                t = v.until_s;
            }
            shortest = fmin(shortest, high_s);
            longest = fmax(longest, high_s);
            sum += high_s;
        }
    }
    assert_true(near(sum / n, HOUR, 0.05 * HOUR));
    assert_true(shortest >= 0.5 * HOUR && shortest < 0.55 * HOUR);
    assert_true(longest <= 1.5 * HOUR && longest > 1.45 * HOUR);
}

/* A seed says what it is for: another VM, resource or scenario has another one. */
static void test_seeds(void **state)
{
    uint64_t s = workload_seed(1, "vm-001", "cpu");

    (void)state;
    assert_true(s == workload_seed(1, "vm-001", "cpu"));
    assert_true(s != workload_seed(2, "vm-001", "cpu"));
    assert_true(s != workload_seed(1, "vm-002", "cpu"));
    assert_true(s != workload_seed(1, "vm-001", "mem"));
    assert_true(workload_seed(1, "a", "b/c") != workload_seed(1, "a/b", "d"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_walk),
        cmocka_unit_test(test_integral), cmocka_unit_test(test_high_low_draws),
        cmocka_unit_test(test_draws),    cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_office),   cmocka_unit_test(test_office_begins_on_saturday),
        cmocka_unit_test(test_bursts),   cmocka_unit_test(test_bursts_are_independent),
        cmocka_unit_test(test_surge),    cmocka_unit_test(test_surge_once),
        cmocka_unit_test(test_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
