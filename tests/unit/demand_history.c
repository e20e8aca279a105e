/* Demand windows and stable times, against figures computed by hand. */
#include "unit.h"

#include "engine/knowledge/demand_history.h"

#include <math.h>
#include <stdio.h>

#define NOW 100000
#define LOW_S 2400 /* dpm.low_s */
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/* Samples of the CPU (memory is a hundred times the age in minutes), `ago` seconds before now. */
struct sample_in {
    instant_s ago;
    double cpu;
};

static const struct {
    const char *name;
    struct sample_in samples[8]; /* oldest first; ago 0 ends */
    double present;
    struct demand_stats window[WINDOW_COUNT]; /* of the CPU */
    double stable_s;
} cases[] = {
    {"just met", {{0, 0}}, 700, {{700, 0, 700, 700}, {700, 0, 700, 700}, {700, 0, 700, 700}}, UNKNOWN},
    {"steady",
     {{3000, 500}, {1200, 500}, {60, 500}},
     500,
     {{500, 0, 500, 500}, {500, 0, 500, 500}, {500, 0, 500, 500}},
     3000},
    {"each window sees its own",
     {{3000, 100}, {1200, 400}, {60, 1000}},
     2000,
     {{1500, 500, 1000, 2000},
      {3400.0 / 3, 659.9663291074444, 400, 2000},
      {875, 725.8615570489175, 100, 2000}},
     0},
    {"older than an hour counts no more",
     {{4000, 9000}, {3599, 1000}},
     1000,
     {{1000, 0, 1000, 1000}, {1000, 0, 1000, 1000}, {1000, 0, 1000, 1000}},
     3599},
    {"a window's beginning is outside",
     {{300, 100}},
     300,
     {{300, 0, 300, 300}, {200, 100, 100, 300}, {200, 100, 100, 300}},
     0},
    {"stable since the last change",
     {{2000, 3000}, {900, 1000}, {300, 1100}, {60, 950}},
     1000,
     {{975, 25, 950, 1000}, {1410, 796.4923100695951, 950, 3000}, {1410, 796.4923100695951, 950, 3000}},
     900},
    {"small changes do not matter, whatever their share; too short to say",
     {{600, 10}, {300, 90}},
     20,
     {{20, 0, 20, 20}, {40, 35.590260840104366, 10, 90}, {40, 35.590260840104366, 10, 90}},
     UNKNOWN},
};

static void test_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct demand_history *h = demand_history_new();
        struct demand_stats got[WINDOW_COUNT][RES_COUNT];
        double stable_s;
        double now[RES_COUNT] = {cases[i].present, 1000};

        print_message("  %s\n", cases[i].name);
        for (size_t k = 0; k < ELEMENTS(cases[i].samples) && cases[i].samples[k].ago > 0; k++) {
            double d[RES_COUNT] = {cases[i].samples[k].cpu, 1000};

            assert_true(demand_history_add(h, "vm", NOW - cases[i].samples[k].ago, d));
        }
        demand_history_describe(h, "vm", NOW, LOW_S, now, NULL, got, &stable_s);
        for (int w = 0; w < WINDOW_COUNT; w++) {
            NEAR(got[w][RES_CPU].mean, cases[i].window[w].mean);
            NEAR(got[w][RES_CPU].stddev, cases[i].window[w].stddev);
            NEAR(got[w][RES_CPU].min, cases[i].window[w].min);
            NEAR(got[w][RES_CPU].max, cases[i].window[w].max);
            NEAR(got[w][RES_MEM].mean, 1000);
        }
        if (isnan(cases[i].stable_s))
            assert_true(isnan(stable_s));
        else
            NEAR(stable_s, cases[i].stable_s);
        demand_history_free(h);
    }
}

static void test_samples_keep_their_distance(void **state)
{
    struct demand_history *h = demand_history_new();
    double d[RES_COUNT] = {1, 1};

    (void)state;
    assert_true(demand_history_add(h, "vm", NOW, d));
    assert_false(demand_history_add(h, "vm", NOW, d));
    assert_false(demand_history_add(h, "vm", NOW + DEMAND_HISTORY_SPACING_S - 1, d));
    assert_false(demand_history_add(h, "vm", NOW - 100, d)); /* the clock went back */
    assert_true(demand_history_add(h, "vm", NOW + DEMAND_HISTORY_SPACING_S, d));
    demand_history_free(h);
}

/* Thirty busy minutes with a look each, and ten quiet ones in which hosts wake, migrations end, and looks
 * come every ten seconds: three quarters of the time it was busy. */
static void test_looks_that_come_sooner(void **state)
{
    struct demand_history *h = demand_history_new();
    struct demand_stats got[WINDOW_COUNT][RES_COUNT];
    const double busy[RES_COUNT] = {1000, 1000};
    const double quiet[RES_COUNT] = {0, 0};
    double stable_s;

    (void)state;
    for (instant_s t = NOW - 2400; t < NOW - 600; t += 60)
        (void)demand_history_add(h, "vm", t, busy);
    for (instant_s t = NOW - 600; t < NOW; t += 10)
        (void)demand_history_add(h, "vm", t, quiet);
    demand_history_describe(h, "vm", NOW, LOW_S, quiet, NULL, got, &stable_s);
    assert_true(got[WINDOW_40M][RES_CPU].mean >= 600 && got[WINDOW_40M][RES_CPU].mean <= 800);
    demand_history_free(h);
}

/* A busy day that ended two minutes ago: gone from a window of a minute, in which the shortest window lies,
 * and still in the hour. */
static void test_short_windows(void **state)
{
    struct demand_history *h = demand_history_new();
    struct demand_stats got[WINDOW_COUNT][RES_COUNT];
    const double busy[RES_COUNT] = {1000, 1000};
    const double quiet[RES_COUNT] = {100, 100};
    double stable_s;

    (void)state;
    assert_true(demand_history_add(h, "vm", NOW - 120, busy));
    assert_true(demand_history_add(h, "vm", NOW - 50, quiet));
    demand_history_describe(h, "vm", NOW, 60, quiet, NULL, got, &stable_s);
    NEAR(got[WINDOW_5M][RES_CPU].max, 100);
    NEAR(got[WINDOW_40M][RES_CPU].max, 100);
    NEAR(got[WINDOW_60M][RES_CPU].max, 1000);
    demand_history_describe(h, "vm", NOW, 600, quiet, NULL, got, &stable_s);
    NEAR(got[WINDOW_5M][RES_CPU].max, 1000);
    NEAR(got[WINDOW_40M][RES_CPU].max, 1000);
    demand_history_free(h);
}

#define BURST_MHZ 6000.0
#define BURST_EVERY 12

/* A burst of five minutes an hour is in the deviation long after the hour no longer shows it, and a steady VM
 * has none. Few hours are told with more caution than a day. */
static void test_usual_deviation(void **state)
{
    struct demand_history *h = demand_history_new();
    double first[RES_COUNT];
    double usual[RES_COUNT];
    double truth = BURST_MHZ * sqrt((BURST_EVERY - 1.0) / (BURST_EVERY * BURST_EVERY));

    (void)state;
    demand_history_deviation(h, "vm", usual);
    assert_true(isnan(usual[RES_CPU]));
    for (int k = 0; k < 26 * BURST_EVERY; k++) {
        bool burst = k % BURST_EVERY == 5 && k < 25 * BURST_EVERY;
        const double d[RES_COUNT] = {burst ? 200 + BURST_MHZ : 200, 4096};

        assert_true(demand_history_add(h, "vm", NOW + k * 300, d));
        if (k == 2 * BURST_EVERY)
            demand_history_deviation(h, "vm", first);
    }
    demand_history_deviation(h, "vm", usual);
    assert_true(usual[RES_CPU] > 0.9 * truth && usual[RES_CPU] < 1.15 * truth);
    assert_true(first[RES_CPU] > 1.1 * usual[RES_CPU]);
    NEAR(usual[RES_MEM], 0);
    demand_history_free(h);
}

static void look(struct demand_history *h, instant_s at, double a, double b, bool b_is_there)
{
    struct sample_record all[] = {{.vm = "a", .time = at, .demand = {a, 4096}},
                                  {.vm = "b", .time = at, .demand = {b, 4096}}};
    size_t n = b_is_there ? 2 : 1;

    for (size_t i = 0; i < n; i++)
        assert_true(demand_history_add(h, all[i].vm, at, all[i].demand));
    demand_history_look(h, all, n, at);
}

/* The rise of the VM when both rose most, over a day; a slow rise is none. */
static void test_rise(void **state)
{
    struct demand_history *h = demand_history_new();
    double rise[RES_COUNT];
    const instant_s hour = 3600;

    (void)state;
    demand_history_rise(h, "a", NOW, rise);
    assert_true(isnan(rise[RES_CPU]));
    for (int i = 0; i < 60; i++) /* 50 MHz a minute: 500 within ten */
        look(h, NOW + i * 60, 100 + i * 50, 100, true);
    demand_history_rise(h, "a", NOW + hour, rise);
    NEAR(rise[RES_CPU], 500);
    look(h, NOW + 2 * hour, 100, 3000, true);
    look(h, NOW + 2 * hour + 700, 100, 3000, true);
    look(h, NOW + 2 * hour + 760, 50, 5000, true);
    demand_history_rise(h, "a", NOW + 3 * hour, rise);
    NEAR(rise[RES_CPU], -50);
    demand_history_rise(h, "b", NOW + 3 * hour, rise);
    NEAR(rise[RES_CPU], 2000);
    assert_true(isnan(rise[RES_MEM])); /* it never rose */
    demand_history_rise(h, "other", NOW + 3 * hour, rise);
    assert_true(isnan(rise[RES_CPU]));
    demand_history_rise(h, "b", NOW + 27 * hour, rise);
    assert_true(isnan(rise[RES_CPU])); /* a day later nothing of it is left */
    look(h, NOW + 30 * hour, 100, 0, false);
    look(h, NOW + 30 * hour + 700, 300, 0, false);
    demand_history_rise(h, "a", NOW + 31 * hour, rise);
    NEAR(rise[RES_CPU], 200);
    demand_history_rise(h, "b", NOW + 31 * hour, rise);
    assert_true(isnan(rise[RES_CPU])); /* it was not there */
    demand_history_free(h);
}

/* Years of it do not grow: 2,000 VMs, met and gone. */
static void test_forgets(void **state)
{
    struct demand_history *h = demand_history_new();
    struct demand_stats got[WINDOW_COUNT][RES_COUNT];
    double d[RES_COUNT] = {100, 100};
    double other[RES_COUNT] = {900, 900};
    double stable_s;
    char vm[32];

    (void)state;
    for (int round = 0; round < 20; round++) {
        instant_s now = NOW + round * 600;

        for (int i = 0; i < 2000; i++) {
            (void)snprintf(vm, sizeof vm, "vm-%d-%d", round / 10, i);
            assert_true(demand_history_add(h, vm, now, d));
        }
        demand_history_forget(h, now);
    }
    demand_history_describe(h, "vm-0-7", NOW + 20 * 600, LOW_S, other, NULL, got, &stable_s);
    NEAR(got[WINDOW_60M][RES_CPU].min, 900); /* nothing left of it */
    demand_history_describe(h, "vm-1-7", NOW + 19 * 600 + 1, LOW_S, other, NULL, got, &stable_s);
    NEAR(got[WINDOW_60M][RES_CPU].min, 100);
    NEAR(stable_s, 0);
    demand_history_free(h);
}

/* Seconds between samples, the last one as long ago as the last figure says. */
static const struct {
    const char *name;
    int n;
    instant_s apart, ago, gap, watched;
} watched_cases[] = {
    {"nothing yet", 0, 60, 0, 900, 0},
    {"one sample, just now", 1, 60, 0, 900, 0},
    {"twenty minutes", 21, 60, 0, 900, 1200},
    {"no more than an hour is kept", 200, 60, 0, 900, 3600},
    {"the last one is within the gap", 11, 60, 900, 900, 1500},
    {"nothing was seen since", 11, 60, 901, 900, 0},
    {"gaps as long as may be", 4, 900, 0, 900, 2700},
    {"gaps that are too long: as if it had just begun", 4, 901, 0, 900, 0},
};

static void test_how_long_it_was_watched(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(watched_cases); i++) {
        struct demand_history *h = demand_history_new();
        double d[RES_COUNT] = {1, 1};
        int n = watched_cases[i].n;

        print_message("  %s\n", watched_cases[i].name);
        for (int k = 0; k < n; k++)
            (void)demand_history_add(h, "vm",
                                     NOW - watched_cases[i].ago - (n - 1 - k) * watched_cases[i].apart, d);
        (void)demand_history_add(h, "late", NOW, d); /* a VM that has just been met shortens nothing */
        demand_history_forget(h, NOW);
        assert_int_equal(demand_history_watched_s(h, NOW, watched_cases[i].gap), watched_cases[i].watched);
        demand_history_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_samples_keep_their_distance),
        cmocka_unit_test(test_looks_that_come_sooner),
        cmocka_unit_test(test_short_windows),
        cmocka_unit_test(test_usual_deviation),
        cmocka_unit_test(test_rise),
        cmocka_unit_test(test_forgets),
        cmocka_unit_test(test_how_long_it_was_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
