/* Wake-ups and the actions that wait for them: a woken host counts once it is back in the cluster. The
 * number of hosts that change their power at a time. */
#include "engine_world.h"

/* h2 sleeps. The pass wants it on, and vm00 moved there. */
static void begin_wake(struct world *w, bool dpm, enum automation level, enum automation cluster)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = cluster;
    w->settings.policy.dpm.enabled = dpm;
    w->settings.policy.dpm.automation = level;
    w->hottest = 1.2;
    w->boot_s = 30;
    w->host_state[2] = HOST_STANDBY;
    w->script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 2, .priority = 1, .group = 1};
    w->script[1] = (struct world_move){.vm = 0, .to = 2, .priority = 1, .depends_on = 1, .group = 1};
    w->n_script = 2;
    world_begin_engine();
}

/* The move begins when the host is seen to be on, and not when somebody says that it was woken. */
static void test_wake_and_what_waits_for_it(void **state)
{
    struct world w;

    (void)state;
    begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    assert_string_equal(world_action(1)->approved_by, "engine");
    world_run(8);
    assert_int_equal(w.host_state[2], HOST_POWERING_ON); /* its task is over */
    assert_int_equal(world_state(1), ACTION_VERIFYING);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    world_run(30);
    assert_int_equal(w.host_state[2], HOST_ON);
    world_run(60);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_run(15);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(w.vms[0].host, 2);
    assert_int_equal(w.wakes[2], 1);
    assert_int_equal(w.starts[0], 1);
    world_release();
}

/* Who decides: dpm.automation, for hosts that do not say otherwise; whatever the level for VMs is. */
static const struct {
    const char *name;
    bool enabled;
    enum automation level, host, cluster;
    bool wakes, moves;
} level_cases[] = {
    {"automatic, and VMs too", true, AUTOMATION_AUTOMATIC, AUTOMATION_INHERIT, AUTOMATION_FULL, true, true},
    {"automatic, VMs are a person's", true, AUTOMATION_AUTOMATIC, AUTOMATION_INHERIT, AUTOMATION_MANUAL, true,
     false},
    {"manual", true, AUTOMATION_MANUAL, AUTOMATION_INHERIT, AUTOMATION_FULL, false, false},
    {"disabled", true, AUTOMATION_DISABLED, AUTOMATION_INHERIT, AUTOMATION_FULL, false, false},
    {"power management is off", false, AUTOMATION_AUTOMATIC, AUTOMATION_INHERIT, AUTOMATION_FULL, false,
     false},
    {"the host says manual", true, AUTOMATION_AUTOMATIC, AUTOMATION_MANUAL, AUTOMATION_FULL, false, false},
    {"the host says disabled", true, AUTOMATION_AUTOMATIC, AUTOMATION_DISABLED, AUTOMATION_FULL, false,
     false},
    {"the host says automatic", true, AUTOMATION_MANUAL, AUTOMATION_AUTOMATIC, AUTOMATION_FULL, true, true},
};

static void test_levels(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(level_cases); i++) {
        struct world w;

        print_message("  %s\n", level_cases[i].name);
        begin_wake(&w, level_cases[i].enabled, level_cases[i].level, level_cases[i].cluster);
        w.host_dpm[2] = level_cases[i].host;
        world_run(120);
        assert_int_equal(w.wakes[2], level_cases[i].wakes);
        assert_int_equal(w.starts[0], level_cases[i].moves);
        assert_int_equal(world_state(1), level_cases[i].wakes ? ACTION_DONE : ACTION_RECOMMENDED);
        world_release();
    }
}

/* Passes between approval and the host's return recommend the same again: one action, and what is new waits
 * for that one. */
static void test_one_wake_at_a_time(void **state)
{
    struct world w;

    (void)state;
    begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
    w.settings.policy.interval_s = 20;
    engine_configure(w.engine, &w.settings, w.now);
    w.check_code = -EBUSY; /* approved, and not begun for a while */
    world_run(1);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    w.script[2] = (struct world_move){.vm = 1, .to = 2, .priority = 1, .depends_on = 1};
    w.n_script = 3;
    uint64_t ticket;

    w.check_code = -EBUSY;
    assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
    world_answer();
    assert_int_equal(world_state(3), ACTION_APPROVED);
    assert_int_equal(world_action(3)->n_depends_on, 1);
    assert_int_equal(world_action(3)->depends_on[0], 1);
    const struct snapshot *seen = engine_snapshot(w.engine); /* the pass knows of both */

    assert_int_equal(seen->n_pending, 2);
    assert_int_equal(seen->pending[0].action, ACTION_MIGRATE);
    assert_int_equal(seen->pending[1].action, ACTION_POWER_ON);
    assert_string_equal(seen->hosts[seen->pending[1].host].is.id, "h2");
    world_run(150);
    assert_int_equal(w.wakes[2], 1);
    assert_int_equal(w.vms[0].host, 2);
    assert_int_equal(w.vms[1].host, 2);
    assert_int_equal(world_state(4), action_state_count);
    world_release();
}

/* Who cannot wake hosts shows what should be done, and refuses to begin it with one sentence. */
static void test_nobody_to_wake_it(void **state)
{
    struct world w;
    struct err err = {0};
    const uint64_t both[] = {1, 2};

    (void)state;
    begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
    w.settings.operations &= ~(1u << OPERATION_WAKE);
    engine_configure(w.engine, &w.settings, w.now);
    world_run(200);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(engine_approve(w.engine, both, NULL, 2, "tester", w.now, NULL, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "host h2 is to be switched on, which this source cannot be asked for"));
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    w.host_state[2] = HOST_ON; /* by hand, and the next pass goes on from there */
    world_run(80);
    assert_int_equal(w.vms[0].host, 2);
    world_release();
}

/* A person's approval, of both; and without the wake nothing that needs it. */
static void test_approved_by_a_person(void **state)
{
    struct world w;
    struct err err = {0};
    const uint64_t both[] = {1, 2};

    (void)state;
    begin_wake(&w, false, AUTOMATION_MANUAL, AUTOMATION_MANUAL);
    world_run(2);
    assert_int_equal(engine_approve(w.engine, &both[1], NULL, 1, "tester", w.now, NULL, &err), -EBUSY);
    assert_non_null(strstr(err.text, "recommendation 2 depends on 1"));
    assert_int_equal(engine_approve(w.engine, both, NULL, 2, "tester", w.now, NULL, &err), 0);
    world_run(120);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_DONE);
    world_release();
    begin_wake(&w, false, AUTOMATION_MANUAL, AUTOMATION_MANUAL);
    world_run(2);
    assert_int_equal(world_apply(1), 0); /* the host first; the rest can be decided when it is there */
    world_run(120);
    assert_int_equal(w.host_state[2], HOST_ON);
    assert_int_equal(w.starts[0], 0);
    world_release();
}

/* What depends on a host that does not come on is not begun, however that is learned. */
static const struct {
    const char *name;
    instant_s boot_s;
    bool fails, lies;
    enum host_state ends; /* host_state_count: as it goes */
    bool rejected;
    enum action_state wake;
    instant_s within;
} dead_cases[] = {
    {"its task fails", 30, true, false, host_state_count, false, ACTION_FAILED, 30},
    {"said to be woken, and sleeps on", 30, false, true, host_state_count, false, ACTION_FAILED, 1900},
    {"it boots for ever", 99999, false, false, host_state_count, false, ACTION_FAILED, 1900},
    {"it comes up in maintenance", 99999, false, false, HOST_MAINTENANCE, false, ACTION_FAILED, 90},
    {"it is never seen again", 99999, false, false, HOST_DISCONNECTED, false, ACTION_FAILED, 1900},
    {"a person says no", 30, false, false, host_state_count, true, ACTION_REJECTED, 1},
};

static void test_host_does_not_come(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(dead_cases); i++) {
        struct world w;
        const uint64_t both[] = {1, 2};

        print_message("  %s\n", dead_cases[i].name);
        begin_wake(&w, false, AUTOMATION_MANUAL, AUTOMATION_MANUAL);
        w.boot_s = dead_cases[i].boot_s;
        w.tasks_fail = dead_cases[i].fails;
        w.tasks_lie = dead_cases[i].lies;
        world_run(2);
        assert_int_equal(engine_approve(w.engine, both, NULL, 2, "tester", w.now, NULL, NULL), 0);
        if (dead_cases[i].rejected)
            assert_int_equal(engine_reject(w.engine, both, 1, false, 0, "tester", w.now, NULL, NULL), 0);
        world_run(15);
        if (dead_cases[i].ends != host_state_count)
            w.host_state[2] = dead_cases[i].ends;
        w.n_script = 0;
        for (instant_s s = 0; s < dead_cases[i].within && w.actions[0].ended == 0; s++)
            world_second();
        assert_int_equal(w.actions[0].state, dead_cases[i].wake);
        assert_int_equal(w.actions[1].state, dead_cases[i].rejected ? ACTION_REJECTED : ACTION_CANCELLED);
        assert_int_equal(w.starts[0], 0);
        assert_true(w.wakes[2] <= 1);
        world_release();
    }
}

/* Somebody else switches it on in between: it is waited for all the same. */
static void test_woken_by_somebody_else(void **state)
{
    struct world w;
    const uint64_t both[] = {1, 2};

    (void)state;
    begin_wake(&w, false, AUTOMATION_MANUAL, AUTOMATION_MANUAL);
    world_run(2);
    assert_int_equal(engine_approve(w.engine, both, NULL, 2, "tester", w.now, NULL, NULL), 0);
    struct job check = w.jobs[0];
    struct job_result r = w_carry_out(&check);

    w.n_jobs = 0;
    w.host_state[2] = HOST_POWERING_ON;
    w.awake_at[2] = w.now + 40;
    engine_on_job_result(w.engine, &check, &r, w.now);
    assert_int_equal(world_state(1), ACTION_STARTING);
    world_run(100);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(w.wakes[2], 0);
    world_release();
}

/* A dead machine is asked again after an interval, then after twice that, and so on, over a restart; it may
 * be the only one. */
static void test_failed_wake_is_not_hammered(void **state)
{
    struct world w;

    (void)state;
    begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
    w.tasks_fail = true;
    world_run(300);
    assert_int_equal(w.wakes[2], 3);
    world_restart();
    world_run(120);
    assert_int_equal(w.wakes[2], 3);
    world_run(240);
    assert_int_equal(w.wakes[2], 4);
    world_run(300);
    assert_int_equal(w.wakes[2], 4);
    world_release();
}

/* A plan holds for two intervals, but not less than a host needs to boot. */
static void test_plan_waits_for_boot(void **state)
{
    struct world w;

    (void)state;
    begin_wake(&w, false, AUTOMATION_MANUAL, AUTOMATION_MANUAL);
    w.script[1].priority = 3;
    w.boot_s = 400; /* more than three times two intervals */
    world_run(2);
    const uint64_t both[] = {1, 2};

    assert_int_equal(engine_approve(w.engine, both, NULL, 2, "tester", w.now, NULL, NULL), 0);
    world_run(395);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    world_run(100);
    assert_int_equal(w.vms[0].host, 2);
    world_release();
}

/* Killed at any call, the next process finds the host on its way, wakes it once, and goes on from there. */
static void test_killed_while_it_boots(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at <= 40; at++) {
            struct world w;

            begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
            (void)world_killed(mode, at, 60);
            world_run(250);
            assert_int_equal(w.wakes[2], 1);
            assert_int_equal(w.starts[0], 1);
            assert_int_equal(w.host_state[2], HOST_ON);
            assert_int_equal(w.vms[0].host, 2);
            for (uint64_t i = 0; i < w.n_actions; i++)
                assert_true(w.actions[i].ended != 0);
            world_release();
        }
    }
}

/* §3.3.3: a VM goes to a host when the agents that the host needs run there. */
static void test_agents_first(void **state)
{
    struct world w;

    (void)state;
    begin_wake(&w, true, AUTOMATION_AUTOMATIC, AUTOMATION_FULL);
    w.vms[3] = (struct world_vm){.id = "vm03", .host = 2, .off = true, .agent_of = 3, .cpu = 10, .mem = 10};
    world_run(150);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    assert_non_null(strstr(world_action(2)->why, "agent VM vm03 to run on host h2"));
    assert_int_equal(w.starts[0], 0);
    w.vms[3].off = false;
    world_run(30);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(w.vms[0].host, 2);
    world_release();
}

/* ---- a number at a time ---------------------------------------------------------------------- */

static const struct {
    int64_t limit;
    int most;
} limit_cases[] = {{1, 1}, {2, 2}, {0, 5}, {CHANGES_AUTO, 5}};

static void test_changes_at_a_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(limit_cases); i++) {
        struct world w;
        int most = 0;

        world_init(&w, 6, 1);
        w.settings.policy.dpm.enabled = true;
        w.settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
        w.settings.policy.dpm.changes_max = limit_cases[i].limit;
        w.task_s = 10;
        for (int h = 1; h < 6; h++)
            w.script[h - 1] = (struct world_move){.kind = ACTION_POWER_OFF, .to = h, .priority = 3};
        w.n_script = 5;
        world_begin_engine();
        for (int s = 0; s < 110; s++) {
            int n = 0;

            world_second();
            for (int t = 0; t < w.n_tasks; t++)
                n += w.tasks[t].state == TASK_RUNNING;
            most = n > most ? n : most;
        }
        assert_int_equal(most, limit_cases[i].most);
        for (int h = 1; h < 6; h++)
            assert_int_equal(w.downs[h], 1);
        world_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wake_and_what_waits_for_it),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_one_wake_at_a_time),
        cmocka_unit_test(test_nobody_to_wake_it),
        cmocka_unit_test(test_approved_by_a_person),
        cmocka_unit_test(test_host_does_not_come),
        cmocka_unit_test(test_woken_by_somebody_else),
        cmocka_unit_test(test_failed_wake_is_not_hammered),
        cmocka_unit_test(test_plan_waits_for_boot),
        cmocka_unit_test(test_killed_while_it_boots),
        cmocka_unit_test(test_agents_first),
        cmocka_unit_test(test_changes_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
