/* The correlation of VM demands, against a count by hand and on clusters with a known answer. */
#include "unit.h"

#include "base/rng.h"
#include "engine/knowledge/demand_correlation.h"
#include "engine/knowledge/demand_history.h"

#include <math.h>
#include <stdio.h>

#define NOW 1000000
#define LOW_S 2400 /* dpm.low_s */
#define VMS 40
#define LOOKS 60 /* of the hour, a minute apart; the last is the present */

struct load {
    bool there[VMS][LOOKS + 1];
    double cpu[VMS][LOOKS + 1];
    int n_vms;
};

static instant_s time_of(int look)
{
    return NOW - (LOOKS - look) * 60;
}

static double normal(struct rng *r)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)(rng_next(r) >> 11) / 9007199254740992.0;
    return sum - 6;
}

/* What the engine does at its last look. */
static struct correlation measured(const struct load *load)
{
    static struct demand_correlation t;
    struct demand_history *h = demand_history_new();
    struct demand_stats got[WINDOW_COUNT][RES_COUNT];
    double stable_s;
    char vm[16];

    t = (struct demand_correlation){0};
    for (int k = 0; k < LOOKS; k++)
        for (int i = 0; i < load->n_vms; i++) {
            double d[RES_COUNT] = {load->cpu[i][k], 1024};

            (void)snprintf(vm, sizeof vm, "vm%d", i);
            if (load->there[i][k])
                assert_true(demand_history_add(h, vm, time_of(k), d));
        }
    for (int i = 0; i < load->n_vms; i++) {
        double d[RES_COUNT] = {load->cpu[i][LOOKS], 1024};

        (void)snprintf(vm, sizeof vm, "vm%d", i);
        if (load->there[i][LOOKS])
            demand_history_describe(h, vm, NOW, LOW_S, d, &t, got, &stable_s);
    }
    demand_history_free(h);
    return demand_correlation_result(&t);
}

/* By hand: the covariance of each pair of VMs, one after the other, over the last looks. */
static double by_hand(const struct load *load, int looks)
{
    double away[VMS][LOOKS + 1] = {{0}};
    double squares[VMS] = {0};
    double pairs = 0;
    double bound = 0;
    double alone = 0;
    int first = LOOKS - looks + 1;

    for (int i = 0; i < load->n_vms; i++) {
        double sum = 0;
        int n = 0;

        if (!load->there[i][LOOKS])
            continue;
        for (int k = first; k <= LOOKS; k++)
            if (load->there[i][k]) {
                sum += (float)load->cpu[i][k];
                n++;
            }
        for (int k = first; k <= LOOKS; k++)
            if (load->there[i][k])
                away[i][k] = (float)load->cpu[i][k] - sum / n;
        for (int k = first; k <= LOOKS; k++)
            squares[i] += away[i][k] * away[i][k];
        alone += squares[i];
    }
    for (int i = 0; i < load->n_vms; i++)
        for (int j = 0; j < load->n_vms; j++) {
            if (i == j)
                continue;
            for (int k = first; k <= LOOKS; k++)
                pairs += away[i][k] * away[j][k];
            bound += sqrt(squares[i] * squares[j]);
        }
    double chance = alone * sqrt(2.0 / (looks - 1));

    return bound > 0 ? fmin(fmax((pairs - chance) / bound, 0), 1) : 0;
}

/* Each VM has `common` of what all have, and the rest for itself. */
static void fill(struct load *load, int n_vms, double common, bool come_and_go, struct rng *r)
{
    *load = (struct load){.n_vms = n_vms};
    for (int k = 0; k <= LOOKS; k++) {
        double all = normal(r);

        for (int i = 0; i < n_vms; i++) {
            load->there[i][k] = !come_and_go || rng_next(r) % 4 != 0;
            load->cpu[i][k] =
                2000 + 100 * (1 + i % 3) * (common * all + sqrt(1 - common * common) * normal(r));
        }
    }
}

static void test_as_by_hand(void **state)
{
    static const int looks[WINDOW_COUNT] = {5, 40, 60};
    static struct load load;
    struct rng r = {.state = 7};

    (void)state;
    for (int run = 0; run < 60; run++) {
        fill(&load, 2 + run % (VMS - 2), (run % 7) / 6.0, run % 2 == 1, &r);
        struct correlation got = measured(&load);

        for (int w = 0; w < WINDOW_COUNT; w++) {
            assert_true(fabs(got.of[w][RES_CPU] - by_hand(&load, looks[w])) < 1e-6);
            assert_true(got.of[w][RES_MEM] == 0); /* nothing varies there */
        }
    }
}

/* The correlation of two VMs that share `common` is its square. */
static const struct {
    const char *name;
    double common;
    bool come_and_go;
    double least, most;
} known_cases[] = {
    {"each for itself", 0, false, 0, 0.03},
    {"each for itself, some of the time", 0, true, 0, 0.03},
    {"all as one", 1, false, 0.98, 1},
    {"all as one, some of the time", 1, true, 0.5, 1},
    {"half and half", 0.7071, false, 0.35, 0.65},
};

static void test_known(void **state)
{
    static struct load load;
    struct rng r = {.state = 11};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(known_cases); i++) {
        print_message("  %s\n", known_cases[i].name);
        for (int run = 0; run < 20; run++) {
            fill(&load, VMS, known_cases[i].common, known_cases[i].come_and_go, &r);
            double is = measured(&load).of[WINDOW_60M][RES_CPU];

            assert_true(is >= known_cases[i].least && is <= known_cases[i].most);
        }
    }
}

/* VMs that come, of whatever size, say nothing of how those that are there vary. */
static void test_a_newcomer_is_no_step(void **state)
{
    static struct load load;
    struct rng r = {.state = 13};

    (void)state;
    fill(&load, VMS, 0, false, &r);
    for (int i = VMS / 2; i < VMS; i++)
        for (int k = 0; k <= LOOKS; k++) {
            load.there[i][k] = k > LOOKS / 2;
            load.cpu[i][k] += 50000;
        }
    assert_true(measured(&load).of[WINDOW_60M][RES_CPU] < 0.03);
}

static void test_too_little_to_tell(void **state)
{
    static struct load load;
    struct rng r = {.state = 17};

    (void)state;
    fill(&load, VMS, 1, false, &r);
    for (int i = 0; i < VMS; i++)
        for (int k = 0; k < LOOKS - 2; k++) /* a service that has just begun */
            load.there[i][k] = false;
    assert_true(measured(&load).of[WINDOW_60M][RES_CPU] == 0);
    load.n_vms = 1;
    assert_true(measured(&load).of[WINDOW_60M][RES_CPU] == 0);
    load.n_vms = 0;
    assert_true(measured(&load).of[WINDOW_60M][RES_CPU] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_by_hand),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_a_newcomer_is_no_step),
        cmocka_unit_test(test_too_little_to_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
