/* The cool-down of a VM after a move or a failed move, and the host that the VM left: over restarts, over
 * days, with any clock, and after moves by others. */
#include "engine_world.h"

#include "engine/actions/action.h"
#include "engine/state.h"

#define DAY_S (24 * 3600)

/* vm00 goes from h0 to h1, and is there. */
static void move_one(struct world *w, instant_s cool_down_s, bool fails)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.cool_down_s = cool_down_s;
    w->hottest = 1.2;
    w->tasks_fail = fails;
    w->task_error = -ECANCELED; /* by a person: what the VM or the host refuses has no cool-down */
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->n_script = 1;
    world_begin_engine();
    world_run(20);
    assert_int_equal(world_state(1), fails ? ACTION_FAILED : ACTION_DONE);
}

static instant_s last_migrated(const char *vm)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return s->vms[snapshot_find_vm(s, vm)].is.last_migrated;
}

/* NULL: not known. */
static const char *left_host(const char *vm)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    uint32_t host = s->vms[snapshot_find_vm(s, vm)].left_host;

    return host == IX_NONE ? NULL : s->hosts[host].is.id;
}

/* As layout.c sees it. */
static bool rests(const char *vm)
{
    instant_s last = last_migrated(vm);

    return last > 0 && engine_snapshot(W->engine)->time - last < W->settings.policy.cool_down_s;
}

static void expect_left(const char *vm, const char *host)
{
    const char *is = left_host(vm);

    if (!is || !host)
        assert_true(is == host);
    else
        assert_string_equal(is, host);
}

/* A pass now, however far away the next one is. */
static void look_now(void)
{
    uint64_t ticket;

    assert_int_equal(engine_run(W->engine, W->now, &ticket, NULL), 0);
    world_run(2);
}

/* By how much the clock was set while nobody ran. */
static const struct {
    const char *name;
    instant_s set;
    bool rests;
} clocks[] = {
    {"not at all", 0, true},
    {"back by minutes", -300, true},
    {"back by hours", -7200, true},
    {"back by days", -9 * DAY_S, true},
    {"on by less than what is left", 500, true},
    {"on by more", 700, false},
};

static void test_over_a_restart(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(clocks); i++) {
        for (int fails = 0; fails < 2; fails++) {
            struct world w;

            print_message("  %s%s\n", clocks[i].name, fails ? ", and the move had failed" : "");
            move_one(&w, 600, fails);
            w.n_script = 0;
            w.now += clocks[i].set;
            world_restart();
            look_now();
            assert_true(last_migrated("vm00") <= engine_snapshot(w.engine)->time);
            assert_true(rests("vm00") == clocks[i].rests);
            world_run(650); /* a rest is no longer than a rest */
            look_now();
            assert_false(rests("vm00"));
            world_release();
        }
    }
}

/* The engine does not try again what failed, nor for ever waits to. */
static void test_back_off_with_the_clock_back(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, true);
    assert_int_equal(w.starts[0], 1);
    w.now -= 7200;
    world_restart();
    world_run(580);
    assert_int_equal(w.starts[0], 1);
    world_run(120);
    assert_int_equal(w.starts[0], 2);
    world_release();
}

static void test_clock_back_while_running(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, false);
    w.n_script = 0;
    w.now -= 7200;
    look_now();
    assert_true(rests("vm00") && last_migrated("vm00") <= w.now);
    world_run(650);
    look_now();
    assert_false(rests("vm00"));
    world_release();
}

/* A rest may be set to be longer than what a restart reads, and than what the store keeps. */
static void test_rest_of_days(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 5 * DAY_S, false);
    w.settings.history_days = 1;
    w.n_script = 0;
    w.now += 4 * DAY_S;
    world_restart();
    world_run(3700);
    look_now();
    assert_true(rests("vm00"));
    assert_true(w.kept_since > 0 && w.kept_since <= last_migrated("vm00"));
    w.now += DAY_S;
    world_restart();
    look_now();
    assert_false(rests("vm00"));
    world_release();
}

static void test_moved_by_somebody_else(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, false);
    w.n_script = 0;
    int migrations = w.n_migrations;

    w.vms[1].host = 2;
    world_run(70);
    assert_true(rests("vm01") && !rests("vm02"));
    assert_int_equal(w.n_migrations, migrations + 1); /* once */
    const struct migration_record *m = &w.migrations[migrations];

    assert_true(m->action == 0 && m->ok && isnan(m->mem_mb) && m->ended - m->started <= 60);
    assert_string_equal(m->from, "h0");
    assert_string_equal(m->to, "h2");
    instant_s when = last_migrated("vm01");

    world_restart();
    look_now();
    assert_int_equal(last_migrated("vm01"), when);
    assert_true(isnan(engine_snapshot(w.engine)->hosts[2].is.migration_rate_mb_s)); /* nobody timed it */
    world_release();
}

/* The host that the last move took a VM from, Ballast's or an admin's. */
static void expect_hosts_left(void)
{
    expect_left("vm00", "h1"); /* by Ballast from h0, then by another from h1 */
    expect_left("vm01", "h0"); /* by another */
    expect_left("vm02", "h2"); /* by another from h0, then by Ballast */
    expect_left("vm03", NULL);
}

static void test_host_left(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 6000, false);
    w.n_script = 0;
    look_now();
    expect_left("vm00", "h0");
    w.vms[0].host = 2;
    w.vms[1].host = 1;
    w.vms[2].host = 2;
    world_run(70);
    expect_left("vm00", "h1");
    expect_left("vm02", "h0");
    w.script[0] = (struct world_move){.vm = 2, .to = 1, .priority = 3};
    w.n_script = 1;
    look_now();
    world_run(70);
    assert_int_equal(w.vms[2].host, 1);
    expect_hosts_left();
    w.n_script = 0;
    world_restart();
    look_now();
    expect_hosts_left();
    w.gone[1] = true; /* the VMs there went to another host with it */
    w.vms[1].host = w.vms[2].host = 2;
    world_restart();
    look_now();
    expect_left("vm00", NULL);
    world_release();
}

static void test_failed_move_leaves_no_host(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, true);
    w.n_script = 0;
    look_now();
    assert_true(rests("vm00"));
    expect_left("vm00", NULL);
    world_restart();
    look_now();
    expect_left("vm00", NULL);
    world_release();
}

/* Not every VM that is elsewhere was moved. */
static void test_not_moved(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, false);
    w.n_script = 0;
    w.vms[1].off = true;
    world_run(70);
    w.vms[1].off = false; /* powered on elsewhere */
    w.vms[1].host = 2;
    world_run(70);
    assert_int_equal(last_migrated("vm01"), 0);
    w.host_state[0] = HOST_DISCONNECTED; /* its VMs were restarted elsewhere */
    w.vms[2].host = 1;
    world_run(70);
    assert_int_equal(last_migrated("vm02"), 0);
    assert_int_equal(w.n_migrations, 1);
    world_release();
}

/* VMs come and go, thousands a day: those that have moved are not remembered for ever, and no shorter than
 * they rest.
 */
static void test_forgotten(void **state)
{
    static const instant_s days[] = {1, 3};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(days); i++) {
        struct world w;

        move_one(&w, 2 * 86400, false);
        w.n_script = 0;
        for (int k = 0; k < days[i] * 24; k++) { /* the world has no patience for days, one second each */
            w.now += 3600;
            world_run(70);
        }
        assert_int_equal(w.engine->actions->vm_backoff.n, days[i] < 2 ? 1 : 0);
        assert_int_equal(last_migrated("vm00") != 0, days[i] < 2);
        world_release();
    }
}

/* A move that was given up and happens all the same. */
static void test_arrives_late(void **state)
{
    struct world w;

    (void)state;
    move_one(&w, 600, true);
    w.n_script = 0;
    instant_s failed = last_migrated("vm00");

    world_run(100);
    w.vms[0].host = 1;
    world_run(70);
    assert_true(last_migrated("vm00") > failed + 90);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over_a_restart),
        cmocka_unit_test(test_back_off_with_the_clock_back),
        cmocka_unit_test(test_clock_back_while_running),
        cmocka_unit_test(test_rest_of_days),
        cmocka_unit_test(test_moved_by_somebody_else),
        cmocka_unit_test(test_host_left),
        cmocka_unit_test(test_failed_move_leaves_no_host),
        cmocka_unit_test(test_not_moved),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_arrives_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
