/* How long demand is expected to stay low: a table of pasts, then what counts of them. */
#include "unit.h"

#include "engine/knowledge/demand_profile.h"

#include <math.h>

#define HOUR 3600
#define MONDAY ((instant_s)1767571200) /* 2026-01-05T00:00:00Z */
#define LOOK 60
#define LOW 20000.0
#define HIGH 80000.0
#define LEVEL 60000.0 /* that is asked for */
#define BUSY_MOST 4
#define NEEDS_S (2.0 * HOUR)

/* Hours since MONDAY. */
struct past {
    const char *what;
    double busy[BUSY_MOST][2]; /* from, to */
    double unseen[2];          /* nobody watched */
    double grown;              /* from then on the VMs are twice as large; 0: never */
    double now;
    double lasts_s;
    uint32_t of, sudden;
    bool foresees;
};

static const struct past pasts[] = {
    {.what = "demand was never higher", .now = 3, .lasts_s = 1.5 * HOUR},
    {.what = "three longer ones",
     .busy = {{2, 3}, {8, 9}, {12, 13}},
     .now = 14,
     .lasts_s = HOUR,
     .of = 3,
     .sudden = 3},
    {.what = "one longer one",
     .busy = {{2, 3}, {8, 9}, {12, 13}},
     .now = 16.5,
     .lasts_s = 1.5 * HOUR,
     .of = 1,
     .sudden = 1},
    {.what = "longer than any",
     .busy = {{2, 3}, {8, 9}, {12, 13}},
     .now = 19,
     .lasts_s = 3 * HOUR,
     .of = 3,
     .sudden = 3},
    {.what = "a pause of half an hour is no quiet",
     .busy = {{3, 4}, {4.5, 5}},
     .now = 6,
     .lasts_s = 2 * HOUR,
     .of = 1,
     .sudden = 1},
    {.what = "what nobody watched is no quiet",
     .busy = {{4, 5}, {9, 10}},
     .unseen = {6, 7},
     .now = 11,
     .lasts_s = HOUR,
     .of = 2,
     .sudden = 2},
    {.what = "nor is it the present one",
     .busy = {{4, 5}},
     .unseen = {6, 7},
     .now = 8,
     .lasts_s = 3 * HOUR,
     .of = 1,
     .sudden = 1},
    {.what = "office days, hosts are not woken for them",
     .busy = {{8, 18}, {32, 42}, {56, 66}, {80, 90}},
     .now = 92,
     .lasts_s = 6 * HOUR,
     .of = 4,
     .sudden = 4},
    {.what = "the first morning was not foreseen",
     .busy = {{8, 18}, {32, 42}, {56, 66}, {80, 90}},
     .now = 92,
     .lasts_s = 6 * HOUR,
     .of = 4,
     .sudden = 1,
     .foresees = true},
    {.what = "VMs that have grown want more",
     .busy = {{2, 3}},
     .grown = 5,
     .now = 6,
     .lasts_s = 1.5 * HOUR,
     .of = 1,
     .sudden = 1},
};

static bool is_in(const double span[2], double hour)
{
    return hour >= span[0] && hour < span[1];
}

static void watch(struct demand_profile *p, const struct past *past)
{
    for (double s = 0; s <= past->now * HOUR; s += LOOK) {
        double hour = s / HOUR;
        double size = past->grown > 0 && hour >= past->grown ? 200 : 100;
        double cpu = LOW;

        for (int i = 0; i < BUSY_MOST; i++)
            cpu = is_in(past->busy[i], hour) ? HIGH : cpu;
        if (is_in(past->unseen, hour))
            continue;
        demand_profile_add(
            p, MONDAY + (instant_s)s,
            &(struct cluster_demand_sums){.demand = {cpu, 50000}, .size = {size, size * 2048}});
    }
}

/* The highest level of CPU that is not above. */
static const struct quiet *find(const struct quiet *list, size_t n, double level)
{
    const struct quiet *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (list[i].level[RES_CPU] <= level)
            found = &list[i];
    assert_non_null(found);
    return found;
}

/* If demand stays low, then from enough_s on, and not before, it is expected to do so for NEEDS_S longer. */
static void check_enough(struct demand_profile *p, const struct past *past, const struct quiet *q)
{
    instant_s now = MONDAY + (instant_s)(past->now * HOUR);
    instant_s enough = now + (instant_s)q->enough_s;
    double size = past->grown > 0 ? 200 : 100;

    assert_true(q->age_s >= 0 && q->enough_s >= 0);
    for (instant_s t = now; t <= enough + DEMAND_SLOT_S; t += LOOK) {
        struct arena a = {0};
        struct quiet *list;
        demand_profile_add(
            p, t, &(struct cluster_demand_sums){.demand = {LOW, 50000}, .size = {size, size * 2048}});
        size_t n = demand_quiet(p, t, past->foresees, NEEDS_S, &a, &list);
        double lasts_s = find(list, n, LEVEL)->lasts_s;
        if (t < enough - 2 * LOOK)
            assert_true(lasts_s < NEEDS_S + LOOK);
        else if (t > enough + 2 * LOOK && t < enough + 4 * LOOK)
            assert_true(lasts_s >= NEEDS_S - 4 * LOOK);
        arena_release(&a);
    }
}

static void test_pasts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(pasts); i++) {
        const struct past *past = &pasts[i];
        struct demand_profile *p = demand_profile_new();
        struct arena a = {0};
        struct quiet *list;

        print_message("  %s\n", past->what);
        watch(p, past);
        size_t n =
            demand_quiet(p, MONDAY + (instant_s)(past->now * HOUR), past->foresees, NEEDS_S, &a, &list);
        const struct quiet *q = find(list, n, LEVEL);
        assert_int_equal(q->of, past->of);
        assert_int_equal(q->sudden, past->sudden);
        assert_true(fabs(q->lasts_s - past->lasts_s) <= 2 * LOOK);
        double high = past->grown > 0 ? 2 * HIGH : HIGH;
        assert_true(past->sudden > 0 ? q->rise > 0.9 * high && q->rise <= high : q->rise == 0);
        check_enough(p, past, q);
        arena_release(&a);
        demand_profile_free(p);
    }
}

/* Levels ascend up to the highest demand that was seen, and a higher one is quiet for no shorter. */
static void test_levels(void **state)
{
    struct demand_profile *p = demand_profile_new();
    struct arena a = {0};
    struct quiet *list;

    (void)state;
    for (int s = 0; s < 40 * HOUR; s += LOOK)
        demand_profile_add(p, MONDAY + s,
                           &(struct cluster_demand_sums){
                               .demand = {LOW + (s / HOUR * 7919 % 13) * 1000.0, 50000}, .size = {1, 1}});
    size_t n = demand_quiet(p, MONDAY + 40 * HOUR, true, NEEDS_S, &a, &list);
    for (size_t i = 1; i < n; i++) {
        enum resource r = isnan(list[i].level[RES_CPU]) ? RES_MEM : RES_CPU;
        if (isnan(list[i - 1].level[r]))
            continue;
        assert_true(list[i].level[r] > list[i - 1].level[r]);
        assert_true(list[i].of == 0 || list[i].lasts_s >= list[i - 1].lasts_s - DEMAND_SLOT_S);
    }
    assert_true(list[n - 1].of == 0 && list[n - 1].level[RES_MEM] == 50000); /* of the memory */
    assert_true(list[0].level[RES_CPU] == LOW + (39 * 7919 % 13) * 1000.0);  /* the present demand */
    arena_release(&a);
    demand_profile_free(p);
    p = demand_profile_new();
    assert_int_equal(demand_quiet(p, MONDAY, true, NEEDS_S, &a, &list), 0);
    arena_release(&a);
    demand_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pasts),
        cmocka_unit_test(test_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
