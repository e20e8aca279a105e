/* Controllers of hosts: asked before the first VM leaves a host that is to be put to standby, and by whom
 * they are confirmed. */
#include "engine_world.h"

static const struct host_power_method ways[] = {{.name = "h2", .wakes = WAKE_IPMI, .sleeps = WAKE_IPMI}};

static void begin(struct world *w)
{
    world_init_standby(w);
    w->settings.ways = ways;
    w->settings.n_ways = ELEMENTS(ways);
    world_begin_engine();
}

static const struct host_facts *host(void)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, "h2")].is;
}

static int moves_begun(void)
{
    return W->starts[2] + W->starts[3];
}

static void test_good(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(60);
    assert_int_equal(w.n_ahead, 1);
    assert_int_equal(moves_begun(), 2);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    world_release();
}

/* Refused: no VM has moved, nothing is left approved, and the reason is the action's. */
static void test_refused(void **state)
{
    static const int codes[] = {-EPERM, -EACCES, -ENOTSUP};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        struct world w;

        begin(&w);
        w.ahead_code = codes[i];
        w.n_script = 3;
        world_run(5);
        assert_int_equal(world_state(3), ACTION_FAILED);
        assert_string_equal(w.actions[2].why, "the controller says no");
        assert_int_equal(world_state(1), ACTION_CANCELLED);
        assert_int_equal(world_state(2), ACTION_CANCELLED);
        assert_int_equal(moves_begun(), 0);
        world_run(65);
        assert_string_equal(host()->power_fault, "the controller says no");
        assert_int_equal(w.host_state[2], HOST_ON);
        assert_int_equal(w.downs[2], 0);
        world_release();
    }
}

/* One that restarts is waited for, while no VM moves; but not for long. */
static void test_deaf(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct world w;

        begin(&w);
        w.ahead_code = -ETIMEDOUT;
        world_run(5);
        assert_int_equal(world_state(3), ACTION_APPROVED);
        assert_string_equal(w.actions[2].why, "the controller says no");
        assert_int_equal(moves_begun(), 0);
        w.ahead_code = back ? 0 : -ETIMEDOUT;
        world_run(55);
        assert_int_equal(world_state(3), back ? ACTION_DONE : ACTION_FAILED);
        assert_int_equal(moves_begun(), back ? 2 : 0);
        assert_true(back || w.n_ahead == 4);
        world_release();
    }
}

/* A restart asks again, unless a VM has moved already: then there was an answer. */
static void test_restart(void **state)
{
    (void)state;
    for (int moved = 0; moved < 2; moved++) {
        struct world w;

        begin(&w);
        w.task_s = 20;
        w.ahead_code = moved ? 0 : -ETIMEDOUT;
        world_run(5);
        const int before = w.n_ahead;

        assert_true(before > 0 && (moves_begun() > 0) == (moved == 1));
        world_restart();
        w.ahead_code = 0;
        world_run(90);
        assert_int_equal(w.n_ahead, before + (moved ? 0 : 1));
        assert_int_equal(world_state(3), ACTION_DONE);
        world_release();
    }
}

static void test_confirmed(void **state)
{
    struct engine_identity is;
    struct err err = {0};
    uint64_t id, ids[WAKE_ACTIONS];
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.settings.ways = ways;
    w.settings.n_ways = ELEMENTS(ways);
    w.n_script = 0;
    w.controllers = true;
    w.identity_code = -ETIMEDOUT;
    world_begin_engine();
    world_run(10);
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_UNREAD);
    assert_int_equal(engine_confirm_controllers(w.engine, "h2", "anna", w.now, &is, &err), -EAGAIN);
    assert_int_equal(engine_confirm_controllers(w.engine, "h1", "anna", w.now, &is, &err), -EINVAL);
    w.identity_code = 0;
    w.identity = (struct identity_report){.verdict = IDENTITY_DIFFERS, .is = "ipmi 7 MAC 8"};
    (void)err_set(&w.identity.why, -EPERM, "it is another machine's");
    world_run(400);
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_DIFFERS);
    assert_string_equal(host()->power_fault, "it is another machine's");
    assert_true(host()->controller_doubted);
    assert_string_equal(w.confirmed, "");
    /* refused at once, in the same words, and asked again: it may have been mended */
    assert_int_equal(engine_standby(w.engine, "h2", "anna", w.now, &id, &err), -EPERM);
    assert_string_equal(err.text, "it is another machine's");
    assert_int_equal(engine_wake(w.engine, "h2", true, "anna", w.now, ids, &err), -EPERM);
    assert_int_equal(w.n_actions, 0);
    w.identity.verdict = IDENTITY_MATCHES;
    w.identity.why = (struct err){0};
    world_run(10);
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_MATCHES);
    w.identity.verdict = IDENTITY_DIFFERS;
    (void)err_set(&w.identity.why, -EPERM, "it is another machine's");
    world_run(90000);
    assert_int_equal(engine_confirm_controllers(w.engine, "h2", "anna", w.now, &is, &err), 0);
    assert_int_equal(is.is, HOST_IDENTITY_CONFIRMED);
    assert_string_equal(is.confirmed_by, "anna");
    w.identity = (struct identity_report){.verdict = IDENTITY_CONFIRMED, .is = "ipmi 7 MAC 8"};
    world_restart();
    world_run(130);
    assert_string_equal(w.confirmed, "ipmi 7 MAC 8"); /* it outlives the process */
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_CONFIRMED);
    assert_string_equal(is.confirmed_by, "anna");
    assert_null(host()->power_fault);
    assert_false(host()->controller_doubted);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_refused),   cmocka_unit_test(test_deaf),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_confirmed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
