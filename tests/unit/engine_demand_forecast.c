/* The forecast in the next snapshot: it survives a restart and is distrusted on a day that differs from
 * past days. */
#include "engine_world.h"

#include "base/cleanup.h"

#include <math.h>

#define HOUR 3600
#define DAY (24 * HOUR)
#define MONDAY ((instant_s)1767571200) /* 2026-01-05T00:00:00Z */
#define TODAY (MONDAY + 3 * DAY)
#define NIGHT 2000.0 /* what the world's four VMs want */
#define BUSY 8000.0

/* The store has three days of an office; the service begins on the fourth. */
static void begin(struct world *w, instant_s of_day)
{
    world_init(w, 3, 4);
    w->now = TODAY + of_day;
    for (instant_s t = MONDAY; t < TODAY; t += DEMAND_SLOT_S) {
        double cpu = t % DAY >= 8 * HOUR && t % DAY < 18 * HOUR ? BUSY : NIGHT;

        w->patterns[t / DEMAND_SLOT_S % WORLD_PATTERNS] = (struct demand_profile_record){
            .time = t,
            .mean = {cpu, NIGHT},
            .peak = {cpu, NIGHT},
            .size = {UNKNOWN, UNKNOWN},
            .expected = {UNKNOWN, UNKNOWN},
        };
    }
    world_begin_engine();
    world_run(3);
}

/* What the newest snapshot expects of that time; UNKNOWN: nothing. */
static double expected(instant_s of_day)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    for (uint32_t i = 0; i < s->n_forecast; i++) {
        if (s->forecast[i].time == TODAY + of_day)
            return s->forecast[i].demand[RES_CPU];
    }
    return UNKNOWN;
}

static void test_in_the_snapshot(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 7 * HOUR);
    assert_true(expected(7 * HOUR) == NIGHT && expected(8 * HOUR) == BUSY);
    assert_true(isnan(expected(7 * HOUR - DEMAND_SLOT_S)) && isnan(expected(13 * HOUR)));
    assert_int_equal(engine_snapshot(w.engine)->forecast[0].days, 3);
    world_release();
}

/* Killed at any moment of a quarter of an hour, it expects the same; and what came is compared with it. */
static void test_over_restarts(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 7 * HOUR + 32 * 60);
    for (int i = 0; i < 5; i++) {
        world_run(300);
        world_restart();
        world_run(62);
        assert_true(expected(9 * HOUR) == BUSY);
    }
    world_run(HOUR / 4); /* it is past a quarter past eight */
    const struct demand_profile_record *s = &w.patterns[(TODAY + 8 * HOUR) / DEMAND_SLOT_S % WORLD_PATTERNS];

    assert_true(s->time == TODAY + 8 * HOUR && s->expected[RES_CPU] == BUSY && s->days == 3 && s->of == 3);
    assert_true(fabs(s->peak[RES_CPU] - NIGHT) < 1);
    world_release();
}

/* Half an hour after the rise should have come nothing is expected any more, also by the next process. */
static void test_another_day(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct engine_forecast f;
    struct world w;

    (void)state;
    begin(&w, 7 * HOUR + 50 * 60);
    world_run(39 * 60);
    assert_true(expected(9 * HOUR) == BUSY);
    world_run(3 * 60);
    assert_int_equal(engine_snapshot(w.engine)->n_forecast, 0);
    engine_forecast(w.engine, w.now, DAY, DAY, &a, &f);
    assert_true(f.doubted == TODAY + 8 * HOUR && f.n_past > 60 && f.n_ahead > 0);
    world_restart();
    world_run(3);
    assert_int_equal(engine_snapshot(w.engine)->n_forecast, 0);
    for (int i = 0; i < 4; i++) /* they come after all */
        w.vms[i].cpu = BUSY / 4;
    world_run(HOUR / 2);
    assert_true(expected(10 * HOUR) == BUSY);
    world_release();
}

/* What another source's VMs wanted says nothing of these. */
static void test_another_source(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 7 * HOUR);
    world_run(120);
    w.settings.source = "another";
    world_restart();
    world_run(120);
    assert_int_equal(engine_snapshot(w.engine)->n_forecast, 0);
    world_release();
}

/* A disk that is full for a while loses nothing. */
static void test_broken_store(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 7 * HOUR);
    w.store_broken = true;
    world_run(40 * 60);
    assert_true(expected(8 * HOUR) == BUSY); /* it goes on with what it has in memory */
    w.store_broken = false;
    world_run(60);
    const struct demand_profile_record *s = &w.patterns[(TODAY + 7 * HOUR) / DEMAND_SLOT_S % WORLD_PATTERNS];

    assert_true(s->time == TODAY + 7 * HOUR && fabs(s->peak[RES_CPU] - NIGHT) < 1); /* and stores it then */
    world_release();
}

static void test_wakes_are_counted(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct engine_forecast f;
    struct world w;

    (void)state;
    world_init(&w, 3, 4);
    w.now = TODAY + 7 * HOUR;
    w.settings.policy.dpm.enabled = true;
    w.settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w.boot_s = 30;
    w.host_state[2] = HOST_STANDBY;
    w.script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 2, .early = true};
    w.n_script = 1;
    world_begin_engine();
    world_run(120);
    assert_int_equal(w.wakes[2], 1);
    engine_forecast(w.engine, w.now, HOUR, HOUR, &a, &f);
    assert_int_equal(f.n_past, 1);
    assert_int_equal(f.past[0].woken, 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_the_snapshot), cmocka_unit_test(test_over_restarts),
        cmocka_unit_test(test_another_day),     cmocka_unit_test(test_another_source),
        cmocka_unit_test(test_broken_store),    cmocka_unit_test(test_wakes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
