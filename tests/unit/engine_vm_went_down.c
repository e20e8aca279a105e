/* A VM that comes to a host while that goes to standby, and goes down with it, is an emergency. */
#include "engine_world.h"

static int arrives; /* as which VM; -1: none */
static bool stops;  /* ... which the source then shows as off */

static bool watch(const struct job *o, struct job_result *ret)
{
    (void)ret;
    if (o->kind == JOB_POLL && o->operation.kind == OPERATION_STANDBY && arrives >= 0) {
        W->vms[arrives].host = 2;
        W->vms[arrives].off = stops;
    }
    return false;
}

static void init(struct world *w)
{
    world_init_standby(w);
    w->settings.policy.dpm.wake_for_vms = true;
    w->actuators = watch;
    arrives = 0;
    stops = true;
}

static int told(const char *kind)
{
    int n = 0;

    for (int i = 0; i < W->n_events; i++)
        n += strcmp(W->events[i], kind) == 0;
    return n;
}

static uint32_t faults(void)
{
    return engine_snapshot(W->engine)->source_faults.n;
}

static void test_woken_at_once(void **state)
{
    (void)state;
    for (int off = 0; off < 2; off++) {
        struct world w;

        init(&w);
        stops = off;
        world_begin_engine();
        for (int i = 0; i < 200 && world_state(3) != ACTION_FAILED; i++)
            world_run(1);
        assert_int_equal(world_state(3), ACTION_FAILED);
        assert_non_null(strstr(world_action(3)->why, "1 VM that ran went down with host h2: vm00"));
        assert_int_equal(told("vm_went_down"), 1);
        world_run(2);
        const struct action_record *wake = world_action(4);

        assert_int_equal(wake->kind, ACTION_POWER_ON);
        assert_int_equal(wake->reason, REASON_VM_WENT_DOWN);
        arrives = -1;
        for (int i = 0; i < 400 && w.host_state[2] != HOST_ON; i++) {
            world_run(1);
            assert_int_equal(faults(), w.host_state[2] == HOST_ON ? faults() : 1);
        }
        assert_int_equal(w.host_state[2], HOST_ON);
        world_run(120);
        assert_int_equal(faults(), off); /* it does not run again before someone starts it */
        w.vms[0].off = false;
        world_run(120);
        assert_int_equal(faults(), 0);
        assert_int_equal(told("vm_went_down"), 1);
        world_release();
    }
}

static void test_a_setting_forbids_it(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    w.settings.policy.dpm.wake_for_vms = false;
    world_begin_engine();
    world_run(300);
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_int_equal(told("vm_went_down"), 1);
    assert_int_equal(w.wakes[2], 0);
    assert_int_equal(faults(), 1);
    world_release();
}

/* The fault outlives a restart, until the VM runs. */
static void test_restart(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    w.settings.policy.dpm.wake_for_vms = false;
    world_begin_engine();
    world_run(200);
    assert_int_equal(faults(), 1);
    world_restart();
    world_run(60);
    assert_int_equal(faults(), 1);
    w.vms[0].host = 0;
    w.vms[0].off = false;
    world_run(120);
    assert_int_equal(faults(), 0);
    world_restart();
    world_run(60);
    assert_int_equal(faults(), 0);
    world_release();
}

/* Off before the host went, as the last looks at it showed: nothing was harmed. */
static void test_was_off_before(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    arrives = -1;
    w.vms[3].off = true;
    world_begin_engine();
    world_run(300);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(told("vm_went_down"), 0);
    assert_int_equal(faults(), 0);
    world_release();
}

/* On a host that sleeps by no doing of ours a VM that runs is a contradiction, and nothing follows from it.
 */
static void test_not_ours(void **state)
{
    struct world w;
    struct engine_status status;

    (void)state;
    init(&w);
    arrives = -1;
    w.host_state[3] = HOST_STANDBY;
    w.vms[1].host = 3;
    world_begin_engine();
    world_run(5);
    engine_status(w.engine, &status);
    assert_int_equal(status.source, SOURCE_LOST);
    assert_non_null(strstr(status.source_error, "is in standby though the VM is on"));
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_woken_at_once), cmocka_unit_test(test_a_setting_forbids_it),
        cmocka_unit_test(test_restart),       cmocka_unit_test(test_was_off_before),
        cmocka_unit_test(test_not_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
