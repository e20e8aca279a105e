/* The per-host settings of pools: set once as the plan says; not in manual automation and not while
 * paused. A failure is reported once and retried; no setting is lost, whenever the process dies. */
#include "engine_world.h"

/* Two pools with parts on each of the hosts. */
static void begin(struct world *w, enum automation automation, int hosts)
{
    world_init(w, hosts, 2);
    w->n_pools = WORLD_POOLS;
    w->settings.policy.automation = automation;
    for (int h = 0; h < hosts; h++) {
        w->wanted[h][0] = 100 * (h + 1);
        w->wanted[h][1] = 10 * (h + 1);
    }
    world_begin_engine();
}

static bool as_wanted(void)
{
    return memcmp(W->has, W->wanted, sizeof W->has) == 0;
}

static int calls(void)
{
    int n = 0;

    for (int h = 0; h < WORLD_HOSTS; h++)
        n += W->settings_calls[h];
    return n;
}

static int parts_wanted(void)
{
    int n = 0;

    for (int h = 0; h < WORLD_HOSTS; h++) {
        for (int p = 0; p < W->n_pools; p++)
            n += W->wanted[h][p] != WORLD_NOTHING;
    }
    return n;
}

static void test_set_once(void **state)
{
    const enum automation levels[] = {AUTOMATION_PARTIAL, AUTOMATION_FULL};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world w;

        begin(&w, levels[i], 5);
        world_run(30);
        assert_true(as_wanted());
        assert_int_equal(w.n_parts, parts_wanted());
        world_run(200); /* three passes more find nothing to do */
        assert_int_equal(calls(), 5);
        assert_int_equal(w_count_events("settings"), 1);
        assert_int_equal(engine_snapshot(w.engine)->n_settings, 10);
        world_release();
    }
}

static void test_not_by_itself(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_MANUAL, 3);
    world_run(200);
    assert_int_equal(calls(), 0);
    assert_int_equal(engine_plan(w.engine)->n_settings, 6); /* but it is said */
    w.settings.policy.automation = AUTOMATION_PARTIAL;
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    world_run(200);
    assert_int_equal(calls(), 0);
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    world_run(5);
    assert_true(as_wanted());
    world_release();

    begin(&w, AUTOMATION_FULL, 3); /* actuators that cannot do it */
    w.settings.sets_pools = false;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(200);
    assert_int_equal(calls(), 0);
    world_release();
}

static void test_changes(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, 3);
    world_run(30);
    w.wanted[1][0] = 500;
    w.wanted[2][1] = WORLD_NOTHING; /* its last VM has left */
    world_run(90);
    assert_true(as_wanted());
    assert_int_equal(w.settings_calls[0], 1);
    assert_int_equal(w.settings_calls[1], 2);
    assert_int_equal(w.n_parts, 5);
    w.n_pools = 1; /* p1 was deleted */
    world_run(90);
    assert_int_equal(w.n_parts, 3);
    assert_int_equal(engine_snapshot(w.engine)->n_settings, 3);
    assert_int_equal(calls(), 5);
    world_release();
}

static void test_failures(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, 3);
    w.settings_code = -EHOSTDOWN;
    world_run(200);
    assert_true(calls() >= 9); /* at each pass */
    assert_int_equal(w_count_events("settings_failed"), 3);
    assert_int_equal(w.n_parts, 0);
    w.settings_code = 0;
    world_run(90);
    assert_true(as_wanted());
    w.wanted[0][0] = 900;
    w.settings_code = -EIO;
    world_run(90);
    assert_int_equal(w_count_events("settings_failed"), 4); /* it is news again */
    assert_int_equal(w.n_parts, 6);
    world_release();

    begin(&w, AUTOMATION_FULL, 3);
    w.settings_code = -ENOTSUP;
    world_run(200);
    assert_int_equal(calls(), 3);
    assert_int_equal(w_count_events("settings_failed"), 1);
    world_release();
}

static void test_store_fails(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, 5);
    w.store_broken = true;
    world_run(100);
    assert_true(calls() <= 2); /* nothing more is begun */
    w.store_broken = false;
    world_run(100);
    assert_true(as_wanted());
    assert_int_equal(w.n_parts, 10);
    world_release();
}

static void test_source_tells(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, 3);
    w.settings_seen = true;
    world_run(30);
    assert_true(as_wanted());
    w.has[1][0] = 7; /* somebody else was there */
    world_run(90);
    assert_true(as_wanted());
    assert_int_equal(calls(), 4);
    world_release();
}

static void test_restarts(void **state)
{
    struct world w;

    (void)state;
    begin(&w, AUTOMATION_FULL, 3);
    world_run(30);
    world_restart();
    world_run(100);
    assert_int_equal(calls(), 3); /* it knows */
    w.settings.source = "another world";
    world_restart(); /* where the same ids mean other things */
    world_run(30);
    assert_int_equal(calls(), 6);
    assert_int_equal(w.n_parts, 6);
    world_release();
}

/* Dies at each call in turn; what the workers had been given is done or not. */
static void test_dies_anywhere(void **state)
{
    unsigned died = 0;

    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        for (int at = 1; at < 60; at++) {
            struct world w;

            begin(&w, AUTOMATION_FULL, 4);
            w.crash_in = at;
            w.crash_before_effect = mode == 0;
            w.jobs_survive = mode == 2;
            world_run(100);
            if (w.dead) {
                died++;
                world_restart();
            }
            w.crash_in = 0;
            world_run(150);
            assert_true(as_wanted());
            assert_int_equal(w.n_parts, parts_wanted());
            for (int i = 0; i < w.n_parts; i++)
                assert_true(w.has[w.parts[i].host[1] - '0'][w.parts[i].pool[1] - '0'] ==
                            w.parts[i].alloc[RES_CPU].reservation);
            world_release();
        }
    }
    assert_true(died > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_once),    cmocka_unit_test(test_not_by_itself),
        cmocka_unit_test(test_changes),     cmocka_unit_test(test_failures),
        cmocka_unit_test(test_store_fails), cmocka_unit_test(test_source_tells),
        cmocka_unit_test(test_restarts),    cmocka_unit_test(test_dies_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
