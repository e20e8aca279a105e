/* The demand of a VM over time: each kind at and around its borders, and the properties of every kind. */
#include "unit.h"

#include "base/rng.h"
#include "sim/workload/workload.h"

#include <math.h>

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
        .low_s = rng_below(r, 2) ? rng_range(r, 1, 1000) : 0,
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
        cmocka_unit_test(test_values),         cmocka_unit_test(test_walk),  cmocka_unit_test(test_integral),
        cmocka_unit_test(test_high_low_draws), cmocka_unit_test(test_draws), cmocka_unit_test(test_seeds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
