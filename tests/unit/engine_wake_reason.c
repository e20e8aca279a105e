/* The reason of a wake-up in the snapshots of later passes: over a restart, and how it ends. */
#include "engine_world.h"

#define BOOT 120

static const struct woken *seen(void)
{
    return &engine_snapshot(W->engine)->hosts[2].is.woken;
}

/* h2 sleeps, by itself or by us. */
static void begin(struct world *w)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->boot_s = BOOT;
    w->imbalance = 0;
    w->host_state[2] = HOST_STANDBY;
    world_begin_engine();
    world_run(70);
    assert_int_equal(seen()->at, 0);
}

static const struct {
    const char *name;
    bool for_load, early, by_admin;
    enum reason reason;
} cases[] = {
    {"for load", .for_load = true, .reason = REASON_HIGH_UTILIZATION},
    {"for a rise", .early = true, .reason = REASON_EXPECTED_DEMAND},
    {"for spare capacity", .reason = REASON_SPARE_CAPACITY},
    {"by an admin", .by_admin = true, .reason = REASON_ASKED},
};

/* From the first inventory on that shows it on: the action that woke it has not ended then. */
static instant_s wake(struct world *w, size_t i)
{
    uint64_t ids[WAKE_ACTIONS];
    instant_s asked = w->now;

    if (cases[i].by_admin) {
        assert_int_equal(engine_wake(w->engine, "h2", false, "tester", w->now, ids, NULL), 0);
    } else {
        w->script[0] = (struct world_move){.kind = ACTION_POWER_ON,
                                           .to = 2,
                                           .priority = 1,
                                           .group = 1,
                                           .for_load = cases[i].for_load,
                                           .early = cases[i].early};
        w->n_script = 1;
        assert_int_equal(engine_run(w->engine, w->now, &ids[0], NULL), 0);
    }
    while (engine_snapshot(w->engine)->hosts[2].is.state != HOST_ON) {
        assert_int_equal(seen()->at, 0);
        assert_true(w->now < asked + 2 * BOOT);
        world_second();
    }
    w->n_script = 0;
    return asked;
}

static void assert_remembered(size_t i, instant_s asked)
{
    assert_int_equal(seen()->reason, cases[i].reason);
    assert_true(seen()->at >= asked && seen()->at <= asked + 5);
}

static void test_what_it_was_woken_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].name);
        begin(&w);
        instant_s asked = wake(&w, i);

        assert_remembered(i, asked);
        world_run(200);
        assert_remembered(i, asked);
        world_restart();
        world_run(70);
        assert_remembered(i, asked);
        world_release();
    }
}

/* Whoever wakes it again begins anew; somebody who switches it on is not known to us. */
static void test_ends_with_its_standby(void **state)
{
    struct world w;
    uint64_t id;

    (void)state;
    begin(&w);
    instant_s asked = wake(&w, 0);

    world_run(200);
    assert_remembered(0, asked);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
    world_run(90);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(seen()->at, 0);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(seen()->at, 0);
    world_restart();
    world_run(70);
    assert_int_equal(seen()->at, 0);
    world_release();
}

static void test_ends_with_maintenance(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    instant_s asked = wake(&w, 0);

    world_run(70);
    assert_remembered(0, asked);
    w.host_state[2] = HOST_MAINTENANCE;
    world_run(70);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(seen()->at, 0);
    world_release();
}

/* An admin who asks for a host that is on, or that is about to go, wants it to stay. */
static void test_asked_for_while_it_is_on(void **state)
{
    struct world w;
    uint64_t ids[WAKE_ACTIONS];
    uint64_t id;

    (void)state;
    begin(&w);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, ids, NULL), 0);
    assert_true(ids[0] == 0 && ids[1] == 0);
    world_run(70);
    assert_remembered(3, w.now - 70);

    world_run(600);
    w.settings.policy.dpm.changes_max = 1; /* so that it waits */
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(engine_standby(w.engine, "h1", "tester", w.now, &id, NULL), 0);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, ids, NULL), 0);
    assert_int_equal(ids[0], id);
    assert_int_equal(world_state(id), ACTION_CANCELLED);
    world_run(70);
    assert_int_equal(w.host_state[2], HOST_ON);
    assert_remembered(3, w.now - 70);
    world_release();
}

/* A proof says nothing of how long it is wanted. */
static void test_proof_is_no_wish(void **state)
{
    struct world w;
    uint64_t ids[WAKE_ACTIONS];

    (void)state;
    begin(&w);
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
    world_run(400);
    assert_true(w.downs[2] == 1 && w.wakes[2] == 1 && w.host_state[2] == HOST_ON);
    assert_int_equal(seen()->reason, REASON_WAKE_TEST);
    world_release();
}

/* A clock that was set back: it was woken just now. */
static void test_clock_was_set_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 4);
    w.n_known = 1;
    w.known[0] = (struct host_record){.host = "h2",
                                      .seen = WORLD_START,
                                      .boot_s = UNKNOWN,
                                      .woken = {.at = WORLD_START + 7200, .reason = REASON_ASKED}};
    world_begin_engine();
    world_run(70);
    assert_true(seen()->at >= WORLD_START && seen()->at <= w.now);
    world_release();
}

/* While it was being woken: then it was not decided in the future, or it would stay on until that is over. */
static void test_clock_was_set_back_meanwhile(void **state)
{
    struct world w;
    uint64_t ids[WAKE_ACTIONS];

    (void)state;
    begin(&w);
    assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, ids, NULL), 0);
    world_run(10);
    assert_true(world_action(ids[0])->started != 0 && world_action(ids[0])->ended == 0);
    w.now -= 7200;
    world_restart();
    w.host_state[2] = HOST_ON;
    for (int i = 0; i < 2; i++) { /* of the action, and of what is remembered when that is over */
        world_run(70);
        assert_int_equal(world_state(ids[0]), ACTION_DONE);
        assert_int_equal(seen()->reason, REASON_ASKED);
        assert_true(seen()->at > 0 && seen()->at <= w.now);
        world_restart();
    }
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_was_woken_for),
        cmocka_unit_test(test_ends_with_its_standby),
        cmocka_unit_test(test_ends_with_maintenance),
        cmocka_unit_test(test_asked_for_while_it_is_on),
        cmocka_unit_test(test_proof_is_no_wish),
        cmocka_unit_test(test_clock_was_set_back),
        cmocka_unit_test(test_clock_was_set_back_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
