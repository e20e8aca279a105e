/* The forecast from past days: a table of histories, then a day that differs from the past ones. */
#include "unit.h"

#include "base/cleanup.h"
#include "engine/knowledge/demand_profile.h"

#include <math.h>
#include <string.h>

#define HOUR 3600
#define DAY (24 * HOUR)
#define MONDAY ((instant_s)1767571200) /* 2026-01-05T00:00:00Z */
#define LOOK 60
#define LOW 20000.0
#define HIGH 80000.0

/* What every day of some weeks was like, Monday first: '#' an office day (busy from 8 to 18), '.' a quiet
 * one, 'x' nobody watched, letters a to e other levels by day, in fifths of HIGH; '<' an office day an hour
 * early. */
static double level(char day, instant_s of_day)
{
    bool office = of_day >= 8 * HOUR && of_day < 18 * HOUR;

    if (day == '#')
        return office ? HIGH : LOW;
    if (day == '<')
        return of_day >= 7 * HOUR && of_day < 17 * HOUR ? HIGH : LOW;
    if (day >= 'a' && day <= 'e')
        return office ? HIGH * (day - 'a' + 1) / 5 : LOW;
    return LOW;
}

static void add(struct demand_profile *p, instant_s t, double cpu, double size)
{
    demand_profile_add(p, t,
                       &(struct cluster_demand_sums){.demand = {cpu, 50000}, .size = {size, size * 2048}});
}

/* Watches the days, from MONDAY on; and the last of them only until `stop`. */
static instant_s watch(struct demand_profile *p, const char *days, double size, instant_s stop)
{
    size_t n = strlen(days);
    instant_s t = MONDAY;

    for (size_t d = 0; d < n; d++) {
        instant_s end = d + 1 == n ? stop : DAY;
        for (instant_s s = 0; s < end; s += LOOK) {
            t = MONDAY + (instant_s)d * DAY + s;
            if (days[d] != 'x')
                add(p, t, level(days[d], s), size);
        }
    }
    return t;
}

#define NOTHING 0
static const struct {
    const char *what;
    const char *days; /* the last one until 07:00; what is asked is its 08:00 slot */
    double expected;  /* NOTHING */
    uint32_t hits, of;
    enum alike_days alike;
} cases[] = {
    {"the first day", "#", NOTHING, 0, 0, 0},
    {"the second day", "##", HIGH, 1, 1, ALIKE_WORKING_DAYS},
    {"two days that differ", "#.#", NOTHING, 0, 0, 0},
    {"two days", "###", HIGH, 2, 2, ALIKE_WORKING_DAYS},
    {"three working days", "####", HIGH, 3, 3, ALIKE_WORKING_DAYS},
    {"the first Saturday", "#####.", NOTHING, 0, 0, 0},
    {"the first Sunday", "#####..", LOW, 1, 1, ALIKE_WEEKENDS},
    {"the second Saturday", "#####..#####.", LOW, 2, 2, ALIKE_WEEKENDS},
    {"a Monday after two weeks", "#####..#####..#", HIGH, 10, 10, ALIKE_WORKING_DAYS},
    {"the day after a holiday", "#####...#", HIGH, 5, 6, ALIKE_WORKING_DAYS},
    {"after two days without", "#####....#", NOTHING, 0, 0, 0},
    {"two days without, and one with", "#####....##", NOTHING, 0, 0, 0},
    {"two days without, and two with", "#####....###", HIGH, 7, 9, ALIKE_WORKING_DAYS},
    {"the office has closed for good", "#####..#####..........", NOTHING, 0, 0, 0},
    {"it stays so", "#####..#####.................", LOW, 10, 10, ALIKE_WORKING_DAYS},
    {"a Monday after three weeks", "#####..#####..#####..#", HIGH, 3, 3, ALIKE_WEEKDAY},
    {"a Monday, one of three was a holiday", "#####...####..#####..#", HIGH, 2, 3, ALIKE_WEEKDAY},
    {"Fridays are free", "####...####...####...####.", LOW, 3, 3, ALIKE_WEEKDAY},
    {"the week begins on Sunday", "####..#####..#####..#####..#", HIGH, 3, 3, ALIKE_WEEKDAY},
    {"and Fridays are free", "####..#####..#####..#####.", LOW, 3, 3, ALIKE_WEEKDAY},
    {"no two days alike", "aebdc..ebcad..b", NOTHING, 0, 0, 0},
    {"gaps are no misses", "##xx#..xx#x#..#", HIGH, 5, 5, ALIKE_WORKING_DAYS},
    {"nothing was watched", "xxxxxxxx", NOTHING, 0, 0, 0},
    {"every day the same", "........", LOW, 5, 5, ALIKE_WORKING_DAYS},
    {"the clock was changed today", "#####..#####..<", HIGH, 10, 10, ALIKE_WORKING_DAYS},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct demand_profile *p = demand_profile_new();
        struct expected x;
        instant_s now = watch(p, cases[i].days, 100, 7 * HOUR);
        instant_s today = MONDAY + (instant_s)(strlen(cases[i].days) - 1) * DAY;

        print_message("  %s\n", cases[i].what);
        bool any = demand_forecast_at(p, today + 8 * HOUR + 600, now > today ? now : today + 7 * HOUR, &x);
        if (cases[i].expected == NOTHING) {
            assert_false(any && !isnan(x.demand[RES_CPU]));
        } else {
            assert_true(any && x.time == today + 8 * HOUR);
            assert_true(fabs(x.demand[RES_CPU] - cases[i].expected) < 1);
            assert_int_equal(x.days, cases[i].hits);
            assert_int_equal(x.of, cases[i].of);
            assert_int_equal(x.alike, cases[i].alike);
        }
        demand_profile_free(p);
    }
}

/* A rise within the slot: the peak is what hosts have to be there for. */
static void test_peak(void **state)
{
    struct demand_profile *p = demand_profile_new();
    struct expected x;
    struct arena a = {0};
    struct demand_profile_record *list;

    (void)state;
    for (int d = 0; d < 3; d++)
        for (instant_s s = 0; s < DAY; s += LOOK)
            add(p, MONDAY + d * DAY + s, s >= 8 * HOUR + 600 && s < 9 * HOUR ? HIGH : LOW, 100);
    assert_true(demand_forecast_at(p, MONDAY + 3 * DAY + 8 * HOUR, MONDAY + 3 * DAY, &x));
    assert_true(fabs(x.demand[RES_CPU] - HIGH) < HIGH / 20);
    assert_int_equal(demand_profile_slots(p, MONDAY + 8 * HOUR, MONDAY + 8 * HOUR + 1, &a, &list), 1);
    assert_true(fabs(list[0].mean[RES_CPU] - (2 * LOW + HIGH) / 3) < LOW / 10);
    arena_release(&a);
    demand_profile_free(p);
}

/* A slot that was watched for less than half of its time is a gap; so is one that a long look would stand
 * for. */
static void test_gaps(void **state)
{
    static const struct {
        instant_s from, until, every;
        bool known;
    } of[] = {{0, 900, 60, true}, {0, 400, 60, false}, {500, 900, 60, false},
              {0, 500, 60, true}, {0, 900, 300, true}, {0, 900, 850, false}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(of); i++) {
        struct arena a = {0};
        struct demand_profile *p = demand_profile_new();
        struct demand_profile_record *list;

        add(p, MONDAY - 1, LOW, 100);
        for (instant_s s = of[i].from; s < of[i].until; s += of[i].every)
            add(p, MONDAY + s, LOW, 100);
        add(p, MONDAY + 3 * DEMAND_SLOT_S, LOW, 100);
        size_t n = demand_profile_slots(p, MONDAY, MONDAY + 1, &a, &list);
        assert_int_equal(n, of[i].known ? 1 : 0);
        demand_profile_free(p);
        arena_release(&a);
    }
}

/* Twice the VMs want twice as much; three times as many are another cluster. */
static void test_population(void **state)
{
    static const struct {
        double then, now, factor; /* 0: nothing is expected */
    } of[] = {{100, 150, 1.5}, {100, 60, 0.6}, {100, 200, 2}, {100, 300, 0}, {100, 40, 0}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(of); i++) {
        struct demand_profile *p = demand_profile_new();
        struct expected x;

        (void)watch(p, "####", of[i].then, DAY);
        instant_s today = MONDAY + 4 * DAY;
        for (instant_s s = 0; s < 7 * HOUR; s += LOOK)
            add(p, today + s, LOW, of[i].now);
        bool any = demand_forecast_at(p, today + 8 * HOUR, today + 7 * HOUR, &x);
        assert_true(any == (of[i].factor > 0));
        if (any)
            assert_true(fabs(x.demand[RES_CPU] - HIGH * of[i].factor) < HIGH / 50);
        demand_profile_free(p);
    }
}

/* Desktops that are powered on at eight, every day: the few of seven o'clock say nothing of nine. */
static void test_population_by_day(void **state)
{
    struct demand_profile *p = demand_profile_new();
    struct expected x;

    (void)state;
    for (instant_s t = MONDAY; t < MONDAY + 3 * DAY + 7 * HOUR; t += LOOK) {
        bool office = t % DAY >= 8 * HOUR && t % DAY < 18 * HOUR;
        add(p, t, office ? HIGH : LOW, office ? 400 : 20);
    }
    assert_true(demand_forecast_at(p, MONDAY + 3 * DAY + 9 * HOUR, MONDAY + 3 * DAY + 7 * HOUR, &x));
    assert_true(fabs(x.demand[RES_CPU] - HIGH) < 1);
    demand_profile_free(p);
}

static size_t ahead(const struct demand_profile *p, instant_s now)
{
    struct arena a = {0};
    struct expected *list;
    size_t n = demand_forecast_next(p, now, 24, &a, &list);

    arena_release(&a);
    return n;
}

/* On a holiday nothing more is expected half an hour after it should have come; by the next morning it is. */
static void test_doubt(void **state)
{
    struct demand_profile *p = demand_profile_new();
    instant_s today = MONDAY + 7 * DAY;

    (void)state;
    (void)watch(p, "#####..", 100, DAY);
    for (instant_s s = 0; s <= DAY + 7 * HOUR; s += LOOK) {
        add(p, today + s, LOW, 100);
        bool doubted = demand_forecast_doubted_since(p, today + s) != 0;
        assert_true(doubted == (s >= 8 * HOUR + 2 * DEMAND_SLOT_S && s < 18 * HOUR + DEMAND_SLOT_S));
        assert_true((ahead(p, today + s) > 0) == !doubted);
    }
    demand_profile_free(p);
}

/* A quieter night is no other day. */
static void test_quiet_night(void **state)
{
    struct demand_profile *p = demand_profile_new();
    instant_s today = MONDAY + 7 * DAY;

    (void)state;
    (void)watch(p, "#####..", 100, DAY);
    for (instant_s s = 0; s <= 7 * HOUR; s += LOOK)
        add(p, today + s, LOW / 2, 100);
    assert_true(demand_forecast_doubted_since(p, today + 7 * HOUR) == 0);
    demand_profile_free(p);
}

/* Europe's: an hour ahead of UTC in winter, two from 29 March on. */
static int64_t berlin(void *zone, instant_s at)
{
    (void)zone;
    return at >= 1774746000 ? 2 * HOUR : HOUR;
}

/* By local time the change of the clock changes nothing; by UTC the rise is not foreseen at seven. */
static void test_clock_change(void **state)
{
    const instant_s monday = 1774828800; /* 2026-03-30, the day after it */

    (void)state;
    for (int zoned = 0; zoned < 2; zoned++) {
        struct demand_profile *p = demand_profile_new();
        struct expected x;

        if (zoned)
            demand_profile_set_zone(p, berlin, NULL);
        for (instant_s t = monday - 14 * DAY; t < monday + 5 * HOUR; t += LOOK) {
            instant_s local = t + berlin(NULL, t);
            bool working = ((local / DAY) + 3) % 7 < 5;
            add(p, t, working && local % DAY >= 8 * HOUR && local % DAY < 18 * HOUR ? HIGH : LOW, 100);
        }
        assert_true(demand_forecast_at(p, monday + 6 * HOUR, monday + 5 * HOUR, &x)); /* 08:00 of Berlin */
        assert_true(fabs(x.demand[RES_CPU] - (zoned ? HIGH : LOW)) < 1);
        demand_profile_free(p);
    }
}

/* A machine whose clock has not been set: there are no days before the first. */
static void test_no_days_before(void **state)
{
    (void)state;
    for (instant_s begin = 0; begin <= 2 * DAY; begin += DAY - 7) {
        struct demand_profile *p = demand_profile_new();
        struct expected x;

        demand_profile_set_zone(p, berlin, NULL);
        for (instant_s t = begin; t < begin + 2 * HOUR; t += LOOK)
            add(p, t, LOW, 100);
        assert_false(demand_forecast_at(p, begin + 3 * HOUR, begin + 2 * HOUR, &x));
        assert_true(demand_forecast_doubted_since(p, begin + 2 * HOUR) == 0);
        demand_profile_free(p);
    }
}

/* Recalled from the store, it expects the same as before; what is older than DEMAND_DAYS is gone. */
static void test_store(void **state)
{
    struct arena a = {0};
    struct demand_profile *p = demand_profile_new();
    struct demand_profile *q = demand_profile_new();
    struct demand_profile_record *list;
    struct expected x, y;
    instant_s now = watch(p, "#####..#####..#", 100, 7 * HOUR);
    size_t n = demand_profile_unstored(p, &a, &list);

    (void)state;
    assert_true(demand_profile_dirty(p));
    assert_int_equal(n, 14 * 96 + 28); /* 27 quarters of an hour are over, and the present one */
    for (size_t i = 0; i < n; i++)
        demand_profile_recall(q, &list[i]);
    assert_false(demand_profile_dirty(q));
    add(q, now + 1, LOW, 100);
    assert_true(demand_forecast_at(p, now + HOUR + 600, now, &x) &&
                demand_forecast_at(q, now + HOUR + 600, now + 1, &y));
    assert_true(x.demand[RES_CPU] == y.demand[RES_CPU] && x.days == y.days && x.of == y.of);
    demand_profile_stored(p);
    assert_false(demand_profile_dirty(p));
    assert_int_equal(demand_profile_unstored(p, &a, &list), 0);
    add(q, now + 60 * DAY, LOW, 100);
    assert_false(demand_forecast_at(q, now + 60 * DAY, now + 60 * DAY, &y));
    arena_release(&a);
    demand_profile_free(p);
    demand_profile_free(q);
}

/* A clock that is set back adds nothing until it has caught up, and breaks nothing. */
static void test_clock_back(void **state)
{
    struct demand_profile *p = demand_profile_new();
    struct arena a = {0};
    struct demand_profile_record *list;

    (void)state;
    (void)watch(p, "#", 100, 12 * HOUR);
    size_t n = demand_profile_slots(p, MONDAY, MONDAY + DAY, &a, &list);
    add(p, MONDAY + HOUR, HIGH * 100, 100);
    assert_int_equal(demand_profile_slots(p, MONDAY, MONDAY + DAY, &a, &list), n);
    arena_release(&a);
    demand_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_population_by_day),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_quiet_night),
        cmocka_unit_test(test_clock_change),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_no_days_before),
        cmocka_unit_test(test_clock_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
