/* External units: nothing is decided before they have answered, they are asked again before a VM is moved,
 * and one that refuses, or has failed, keeps the move from beginning. */
#include "engine_world.h"

#define ALL_HOSTS 0x3fu

/* vm00 is to go from h0 to h1. */
static void begin(struct world *w, enum automation automation)
{
    world_init(w, 3, 4);
    w->units = true;
    w->unit_keeps = ALL_HOSTS;
    w->settings.policy.automation = automation;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 2};
    w->n_script = 1;
    world_begin_engine();
}

static bool has_answers(const struct snapshot *s, uint32_t vm)
{
    return s && s->n_answers == 1 && s->vms[vm].n_answers == 1 && s->vms[vm].answers[0]->at > 0;
}

/* An inventory counts when the units have answered about it, and the pass sees their answers. */
static void test_pass_waits(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL);
    w.units_silent = true;
    world_run(20);
    assert_int_equal(w.n_units_asks, 1);
    assert_int_equal(w.n_asks, 1); /* no other inventory meanwhile */
    assert_int_equal(w.passes, 0);
    assert_null(engine_snapshot(w.engine));
    w.units_silent = false;
    world_run(2);
    assert_int_equal(w.passes, 1);
    assert_true(has_answers(engine_snapshot(w.engine), 0));
    world_run(120); /* with each inventory */
    assert_true(w.n_asks > 2 && w.n_units_asks == w.n_asks);
    assert_true(has_answers(engine_snapshot(w.engine), 3));
    world_release();
}

/* A move begins after they have answered once more. */
static void test_asked_again(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL);
    world_run(10);
    int asks = w.n_units_asks;

    w.units_silent = true;
    assert_int_equal(world_apply(1), 0);
    world_run(10);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_int_equal(w.n_units_asks, asks + 1); /* at once, not with the next look */
    assert_string_equal(world_action(1)->why, "it waits for the answers of external units");
    w.units_silent = false;
    world_run(20);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

static void test_refused_before_it_begins(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL);
    w.units_silent = true;
    world_run(3);
    w.units_silent = false;
    world_second(); /* the pass, which approves */
    assert_int_equal(world_state(1), ACTION_APPROVED);
    w.unit_keeps = ALL_HOSTS & ~2u;
    world_run(5);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_string_equal(world_action(1)->why, "the external unit u refuses host h1: as the test says");
    assert_int_equal(w.starts[0], 0);
    world_release();
}

/* A unit that has failed must answer first; the plan grows old meanwhile. */
static void test_failed_before_it_begins(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL);
    world_run(10);
    w.unit_error = "no answer within 10 s";
    assert_int_equal(world_apply(1), 0);
    world_run(10);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_string_equal(world_action(1)->why, "it waits for the external unit u: no answer within 10 s");
    w.unit_error = NULL;
    world_run(90);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

static int events(const char *kind)
{
    int n = 0;

    for (int i = 0; i < W->n_events && i < (int)ELEMENTS(W->events); i++)
        n += strcmp(W->events[i], kind) == 0;
    return n;
}

static void check_failing(const char *error, size_t vms)
{
    struct engine_status st;

    engine_status(W->engine, &st);
    assert_int_equal(st.n_failing_units, error || vms > 0 ? 1 : 0);
    if (st.n_failing_units == 0)
        return;
    assert_string_equal(st.failing_units[0].unit, "u");
    assert_int_equal(st.failing_units[0].vms, vms);
    if (error)
        assert_string_equal(st.failing_units[0].error, error);
}

/* One event when a unit begins to fail, and one when it answers again or no stage asks it any more, however
 * many passes and restarts lie between. */
static void test_failure_is_told_once(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL);
    world_run(10);
    check_failing(NULL, 0);
    w.unit_error = "no answer within 10 s";
    world_run(400);
    assert_int_equal(events("unit_failed"), 1);
    check_failing("no answer within 10 s", 4);
    w.unit_error = "it ended";
    world_run(200);
    check_failing("it ended", 4);
    world_restart();
    world_run(200);
    assert_int_equal(events("unit_failed"), 1);
    assert_int_equal(events("unit_back"), 0);
    check_failing("it ended", 4);
    w.unit_error = NULL;
    world_run(200);
    assert_int_equal(events("unit_back"), 1);
    check_failing(NULL, 0);
    w.unit_error = "it ended";
    world_run(200);
    assert_int_equal(events("unit_failed"), 2);
    w.units = false; /* no pipeline asks it */
    world_run(200);
    assert_int_equal(events("unit_back"), 2);
    check_failing(NULL, 0);
    world_release();
}

/* What is approved while they are asked is no part of their snapshot: the next inventory decides. */
static void test_approved_meanwhile(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL);
    world_run(10);
    int passes = w.passes;
    uint64_t ticket;
    uint64_t pass;
    struct err err;

    w.units_silent = true;
    assert_int_equal(engine_run(w.engine, w.now, &ticket, &err), 0);
    world_run(3);
    assert_int_equal(world_apply(1), 0);
    w.units_silent = false;
    w_answer_units();
    assert_int_equal(w.passes, passes);
    assert_int_equal(engine_run_result(w.engine, ticket, &pass, &err), -EINPROGRESS);
    world_run(10);
    assert_int_equal(engine_run_result(w.engine, ticket, &pass, &err), 0);
    assert_true(w.passes > passes);
    world_release();
}

/* Without the port, as in the simulator, stages find no answer, and nothing waits for one. */
static void test_without_port(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 4);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.hottest = 1.2;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 2};
    w.n_script = 1;
    world_begin_engine();
    w.units = true; /* the pipelines only */
    world_run(20);
    assert_int_equal(w.n_units_asks, 0);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

/* Killed at any call while units are asked: the next process asks anew, and moves the VM once. */
static void test_killed(void **state)
{
    (void)state;
    for (int at = 1; at < 60; at++) {
        struct world w;

        begin(&w, AUTOMATION_FULL);
        bool died = world_killed(CRASH_BEFORE_EFFECT, at, 20);
        world_run(60);
        assert_int_equal(w.starts[0], 1);
        world_release();
        if (!died)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass_waits),
        cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_refused_before_it_begins),
        cmocka_unit_test(test_failed_before_it_begins),
        cmocka_unit_test(test_failure_is_told_once),
        cmocka_unit_test(test_approved_meanwhile),
        cmocka_unit_test(test_without_port),
        cmocka_unit_test(test_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
