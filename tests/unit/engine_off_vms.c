/* VMs that are off leave a host before it goes to standby, and none of them keeps it on. */
#include "engine_world.h"

static int moved, refuses;

/* The move of vm03, which is off, is told as such; and no host goes down before it has ended. */
static bool watch(const struct job *o, struct job_result *ret)
{
    if (o->kind != JOB_START)
        return false;
    if (o->operation.kind == OPERATION_STANDBY)
        assert_true(refuses || W->vms[3].host == 1);
    if (o->operation.kind != OPERATION_MIGRATE)
        return false;
    assert_int_equal(o->operation.off, strcmp(o->operation.vm, "vm03") == 0);
    moved += o->operation.off;
    if (!o->operation.off || !refuses)
        return false;
    ret->code = err_set(&ret->err, -EPERM, "no such storage");
    return true;
}

/* vm02 runs on h2 and vm03 is off there. */
static void init(struct world *w)
{
    world_init_standby(w);
    w->settings.operations |= 1u << OPERATION_MIGRATE_OFF;
    w->vms[3].off = true;
    w->script[1].off_vm = true;
    w->actuators = watch;
    moved = refuses = 0;
}

static void test_leaves_first(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    world_begin_engine();
    world_run(3);
    assert_true(engine_snapshot(w.engine)->moves_off_vms);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(2), ACTION_RUNNING);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    world_run(40);
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(world_state(id), ACTION_DONE);
    assert_null(world_action(3)->why); /* nothing is left there */
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(w.vms[3].host, 1);
    assert_true(w.vms[3].off);
    assert_int_equal(world_action(2)->result.predicted_at, 0); /* there is nothing to learn of it */
    world_run(300);
    assert_int_equal(moved, 1);
    world_release();
}

/* The VM stays, the others leave, and nothing else is avoided for it: as without such moves. */
static void test_refused(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    w.settings.policy.avoid.host_failures = 1;
    world_begin_engine();
    refuses = 1;
    world_run(60);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_FAILED);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_non_null(strstr(world_action(3)->why, "cannot be started there: vm03"));
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.vms[3].host, 2);
    world_run(300);
    assert_int_equal(moved, 1);
    assert_true(w.n_failures > 0);
    for (int i = 0; i < w.n_failures; i++) /* only the VM itself is held back, and only from that host */
        assert_true(w.failures[i].until == 0 ||
                    (strcmp(w.failures[i].vm, "vm03") == 0 && strcmp(w.failures[i].host, "h1") == 0));
    world_release();
}

/* It is no VM that is off any more: no move was planned for it, so the host stays on. */
static void test_started_meanwhile(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    w.script[0] = w.script[1];
    w.script[1] = w.script[2];
    w.n_script = 2;
    w.vms[2].host = 0;
    world_begin_engine();
    engine_tick(w.engine, w.now);
    world_answer(); /* approved, and nothing has begun */
    assert_int_equal(world_state(1), ACTION_APPROVED);
    w.vms[3].off = false;
    w.n_script = 0;
    world_run(60);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(moved, 0);
    world_release();
}

/* The level of VMs does not count: they would keep the host on. */
static void test_approved_with_its_standby(void **state)
{
    struct world w;

    (void)state;
    for (int automatic = 0; automatic < 2; automatic++) {
        init(&w);
        w.settings.policy.automation = AUTOMATION_MANUAL;
        w.settings.policy.dpm.automation = automatic ? AUTOMATION_AUTOMATIC : AUTOMATION_MANUAL;
        w.script[0] = w.script[1];
        w.script[1] = w.script[2];
        w.n_script = 2;
        w.vms[2].host = 0;
        world_begin_engine();
        world_run(60);
        assert_int_equal(world_state(1), automatic ? ACTION_DONE : ACTION_RECOMMENDED);
        assert_int_equal(world_state(2), automatic ? ACTION_DONE : ACTION_RECOMMENDED);
        assert_int_equal(w.downs[2], automatic);
        world_release();
    }
}

/* A person asks for the standby of a host that no VM runs on. */
static const struct {
    const char *name;
    bool finds, refuses, test;
    int host; /* where vm03 is at the end */
} asked_cases[] = {
    {"it leaves", true, false, false, 1},
    {"it cannot", false, true, false, 2},
    {"its move fails", true, true, false, 2},
    {"a test of a wake moves nothing", true, true, true, 2},
};

static void test_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(asked_cases); i++) {
        struct world w;
        uint64_t id, ids[2];

        print_message("  %s\n", asked_cases[i].name);
        init(&w);
        w.settings.policy.automation = AUTOMATION_MANUAL;
        w.script[0] = (struct world_move){.vm = 3, .to = 1, .priority = 2, .off_vm = true};
        w.n_script = asked_cases[i].finds;
        w.vms[2].host = 0;
        world_begin_engine();
        refuses = asked_cases[i].refuses;
        world_run(5);
        if (asked_cases[i].test)
            assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
        else
            assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
        world_run(90);
        assert_int_equal(w.downs[2], 1);
        assert_int_equal(w.vms[3].host, asked_cases[i].host);
        assert_int_equal(moved, asked_cases[i].finds && !asked_cases[i].test);
        world_run(60); /* no second move */
        assert_int_equal(moved, asked_cases[i].finds && !asked_cases[i].test);
        world_release();
    }
}

/* Killed at any moment: the VM moves once, and the host goes down after it. */
static void test_killed(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        bool more = true;

        for (int at = 1; more; at++) {
            struct world w;

            init(&w);
            world_begin_engine();
            more = world_killed((enum crash_mode)mode, at, 40);
            world_run(200);
            assert_int_equal(w.starts[3], 1);
            assert_int_equal(w.vms[3].host, 1);
            assert_int_equal(w.downs[2], 1);
            world_release();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_first),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_started_meanwhile), cmocka_unit_test(test_approved_with_its_standby),
        cmocka_unit_test(test_asked_for),         cmocka_unit_test(test_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
