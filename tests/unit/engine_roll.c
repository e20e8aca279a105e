/* A roll of maintenance in the engine: its steps, restarts, failures. */
#include "engine_world.h"

static const char *const two[] = {"h2", "h3"};

/* Four hosts; all VMs are on h0, so h1 to h3 are empty. */
static void begin(struct world *w, uint32_t at_once)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    world_begin_engine();
    world_run(3);
    assert_int_equal(engine_roll_begin(w->engine, two, 2, at_once, "tester", w->now, NULL), 0);
}

static const struct engine_roll *roll(void)
{
    static struct engine_roll is;

    assert_true(engine_roll_state(W->engine, &is));
    return &is;
}

static void expect_steps(enum roll_step first, enum roll_step second)
{
    assert_string_equal(roll_step_name(roll()->hosts[0].step), roll_step_name(first));
    assert_string_equal(roll_step_name(roll()->hosts[1].step), roll_step_name(second));
}

static void test_one_after_another(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 1);
    world_run(200);
    assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
    assert_int_equal(w.host_state[3], HOST_ON);
    expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
    w.host_state[2] = HOST_DISCONNECTED; /* it is rebooted */
    world_run(200);
    expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
    w.host_state[2] = HOST_ON; /* whoever ended its maintenance */
    world_run(400);
    expect_steps(ROLL_DONE, ROLL_HANDED_OVER);
    uint64_t id;

    assert_int_equal(engine_maintenance(w.engine, "h3", false, "tester", w.now, &id, NULL, NULL), 0);
    world_run(400);
    expect_steps(ROLL_DONE, ROLL_DONE);
    assert_true(roll()->ended != 0);
    assert_null(roll()->failed);
    world_release();
}

/* The source shows the host in maintenance before the task has ended: it is handed over when its maintenance
 * can be ended, too. */
static void test_handed_over_when_it_can_be_ended(void **state)
{
    struct world w;
    uint64_t id = 0;

    (void)state;
    begin(&w, 1);
    w.tasks_stick = true;
    for (int i = 0; i < 300 && w.n_tasks == 0; i++)
        world_run(1);
    w.host_state[2] = HOST_MAINTENANCE;
    world_run(30);
    expect_steps(ROLL_EMPTYING, ROLL_WAITING);
    w.tasks_stick = false;
    world_run(2000);
    expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
    assert_int_equal(engine_maintenance(w.engine, "h2", false, "tester", w.now, &id, NULL, NULL), 0);
    assert_int_not_equal(id, roll()->hosts[0].action); /* it ends the maintenance; the entering was over */
    world_run(400);
    expect_steps(ROLL_DONE, ROLL_HANDED_OVER);
    world_release();
}

static void test_two_at_once(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2);
    world_run(300);
    expect_steps(ROLL_HANDED_OVER, ROLL_HANDED_OVER);
    world_release();
}

/* The process is killed at any call within the first minutes: the roll is there, and no host is lost or taken
 * twice. */
static void test_restarts(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at < 60; at += 3) {
            struct world w;

            begin(&w, 1);
            (void)world_killed((enum crash_mode)mode, at, 200);
            world_run(300);
            expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
            assert_int_equal(w.host_state[2], HOST_MAINTENANCE);
            assert_int_equal(w.host_state[3], HOST_ON);
            assert_string_equal(roll()->by, "tester");
            w.host_state[2] = HOST_ON;
            world_run(500);
            expect_steps(ROLL_DONE, ROLL_HANDED_OVER);
            world_release();
        }
    }
}

static void test_stops_at_a_failure(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin(&w, 1);
    assert_int_equal(engine_roll_begin(w.engine, two, 2, 1, "tester", w.now, &err), -EBUSY);
    w.tasks_fail = true;
    world_run(300);
    assert_true(roll()->ended != 0);
    assert_non_null(strstr(roll()->failed, "host h2 did not enter maintenance: "));
    assert_int_equal(roll()->hosts[1].step, ROLL_WAITING);
    world_restart();
    world_run(100);
    assert_non_null(strstr(roll()->failed, "host h2 did not enter maintenance: "));
    w.tasks_fail = false;
    assert_int_equal(engine_roll_begin(w.engine, two, 1, 1, "tester", w.now, NULL), 0);
    world_run(300);
    assert_int_equal(roll()->hosts[0].step, ROLL_HANDED_OVER);
    world_release();
}

static void test_refused(void **state)
{
    static const char *const twice[] = {"h1", "h1"};
    static const char *const unknown[] = {"h9"};
    struct world w;
    struct err err = {0};

    (void)state;
    world_init(&w, 4, 4);
    world_begin_engine();
    assert_int_equal(engine_roll_begin(w.engine, two, 2, 1, "tester", w.now, &err), -EHOSTUNREACH);
    world_run(3);
    assert_int_equal(engine_roll_begin(w.engine, twice, 2, 1, "tester", w.now, &err), -EINVAL);
    assert_int_equal(engine_roll_begin(w.engine, unknown, 1, 1, "tester", w.now, &err), -EINVAL);
    w.host_state[2] = HOST_STANDBY;
    world_run(100);
    assert_int_equal(engine_roll_begin(w.engine, two, 2, 1, "tester", w.now, &err), -EBUSY);
    assert_non_null(strstr(err.text, "host h2 is standby, expected a host that is on"));
    assert_int_equal(engine_roll_stop(w.engine, NULL, "tester", w.now, &err), -EINVAL);
    struct engine_roll none;

    assert_false(engine_roll_state(w.engine, &none));
    world_release();
}

/* Paused, no further host is begun. */
static void test_paused(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4, 4);
    world_begin_engine();
    world_run(3);
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    assert_int_equal(engine_roll_begin(w.engine, two, 2, 1, "tester", w.now, NULL), 0);
    world_run(200);
    expect_steps(ROLL_WAITING, ROLL_WAITING);
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    world_run(300);
    expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
    assert_int_equal(engine_roll_stop(w.engine, NULL, "tester", w.now, NULL), 0);
    world_run(300);
    expect_steps(ROLL_HANDED_OVER, ROLL_WAITING);
    assert_string_equal(roll()->failed, "ended by tester");
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_after_another),
        cmocka_unit_test(test_handed_over_when_it_can_be_ended),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_stops_at_a_failure),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_paused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
