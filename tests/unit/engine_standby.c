/* Hosts that are put to standby: only if they are observed to be empty, are not needed, and are able to
 * wake. */
#include "engine_world.h"

static void begin(struct world *w)
{
    world_init_standby(w);
    world_begin_engine();
}

static enum host_state seen(int host)
{
    char id[16];

    w_host_id(host, id);
    const struct snapshot *s = engine_snapshot(W->engine);

    return s->hosts[snapshot_find_host(s, id)].is.state;
}

static void test_emptied_and_put_down(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    world_run(300); /* and there it stays */
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.n_actions, 3);
    world_release();
}

/* Passes see it as entering standby from the moment of the approval, so that nothing goes there. */
static void test_passes_know(void **state)
{
    struct world w;
    uint64_t ticket;

    (void)state;
    begin(&w);
    w.task_s = 30;
    world_run(5);
    assert_int_equal(seen(2), HOST_ON); /* as it was before */
    assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
    world_run(2);
    assert_int_equal(seen(2), HOST_ENTERING_STANDBY);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    assert_int_equal(w.n_actions, 3);
    world_release();
}

/* ---- what must hold until it begins ---------------------------------------------------------- */

/* Two may go, but not both: the one that was approved later stays. */
static void test_minimum_for_two(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.vms[2].host = w.vms[3].host = 0;
    w.settings.policy.dpm.hosts_min = 3;
    w.script[0] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 2, .priority = 3};
    w.script[1] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 3, .priority = 3};
    w.n_script = 2;
    world_begin_engine();
    world_answer();
    engine_tick(w.engine, w.now);
    world_answer(); /* known before anything has begun */
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.downs[3], 0);
    world_run(200);
    assert_int_equal(w.downs[2] + w.downs[3], 1);
    world_release();
}

/* A minimum that is raised, a proof that is lost, power management that is switched off: nothing begins. */
static const struct {
    const char *name;
    int hosts_min;
    bool unproven, disabled, host_disabled;
} change_cases[] = {
    {"the minimum rises", 4, false, false, false},
    {"the proof is gone", 1, true, false, false},
    {"power management is off", 1, false, true, false},
    {"the host's is", 1, false, false, true},
};

static void test_changes_before_it_begins(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(change_cases); i++) {
        struct world w;

        print_message("  %s\n", change_cases[i].name);
        begin(&w);
        w.task_s = 30;
        world_run(10);
        assert_int_equal(world_state(3), ACTION_APPROVED);
        w.settings.policy.dpm.hosts_min = change_cases[i].hosts_min;
        w.settings.policy.dpm.enabled = !change_cases[i].disabled;
        w.unproven = change_cases[i].unproven;
        if (change_cases[i].host_disabled)
            w.host_dpm[2] = AUTOMATION_DISABLED;
        engine_configure(w.engine, &w.settings, w.now);
        w.n_script = 0;
        world_run(120);
        assert_int_equal(world_state(3), ACTION_CANCELLED);
        assert_int_equal(w.downs[2], 0);
        world_release();
    }
}

/* A VM that appears on the host is moved away first, and the host goes down when that is done. */
static void test_a_vm_appears(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(4);
    w.vms[0].host = 2; /* somebody moved it there */
    w.script[3] = (struct world_move){.vm = 0, .to = 1, .priority = 1, .evacuates = true};
    w.n_script = 4;
    world_run(50);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    assert_non_null(strstr(world_action(3)->why, "it waits for host h2 to be empty"));
    world_run(60);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(w.downs[2], 1); /* the world would not have let it go down with a VM */
    world_release();
}

/* It appears between the inventory that showed the host empty and the one that proves it. */
static void test_seen_empty_twice(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.source_silent = false;
    while (world_state(1) != ACTION_DONE || world_state(2) != ACTION_DONE)
        world_second();
    w.vms[0].host = 2;
    for (int i = 0; i < 30; i++) {
        world_second();
        assert_int_equal(w.downs[2], 0);
    }
    world_release();
}

/* The VM is seen elsewhere, but its move is not over: it may still need the host that it leaves. */
static void test_a_move_is_not_over(void **state)
{
    struct world w;
    uint64_t id;

    (void)state;
    world_init_standby(&w);
    w.vms[3].host = 0;
    w.n_script = 1;
    w.script[0].empties = false;
    w.hottest = 1.2;
    w.tasks_stick = true;
    world_begin_engine();
    world_run(5);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(engine_standby(w.engine, "h2", "tester", w.now, &id, NULL), 0);
    w.vms[2].host = 0;
    w.n_script = 0;
    world_run(130);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(w.downs[2], 0);
    w.tasks_stick = false;
    w.tasks[0].stuck = false;
    world_run(60);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

/* Nobody knows what has happened since: not on the data of before. */
static void test_source_lost_before_it_begins(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    while (world_state(1) != ACTION_DONE || world_state(2) != ACTION_DONE)
        world_second();
    w.source_down = true;
    world_run(30);
    assert_int_equal(w.downs[2], 0);
    w.source_down = false;
    world_run(60);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

/* A VM that left by itself, or was stopped, is gone all the same. */
static void test_a_vm_leaves_by_itself(void **state)
{
    struct world w;
    uint64_t ticket;

    (void)state;
    begin(&w);
    w.settings.policy.migrations_per_host = 1;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(2);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    w.vms[3].off = true; /* before it was moved */
    assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
    world_answer();
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    world_run(80);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(w.starts[3], 0);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

/* One that cannot be moved keeps the host on, and what only made sense with it is not begun. */
static void test_a_move_fails(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.tasks_fail = true;
    world_run(30);
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.downs[2], 0);
    world_release();
}

/* Agents go down with their host. */
static void test_agents_stay(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.vms[0].host = 2;
    w.vms[0].agent_of = 3;
    world_begin_engine();
    world_run(60);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(w.starts[0], 0);
    world_release();
}

/* A host with many VMs takes longer to empty than a plan holds. */
static void test_emptying_takes_long(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.n_vms = 20;
    w.settings.policy.migrations_per_host = 1;
    w.task_s = 25;
    for (int i = 0; i < 20; i++) {
        (void)snprintf(w.vms[i].id, sizeof w.vms[i].id, "vm%02d", i);
        w.vms[i].cpu = w.vms[i].mem = 100;
        w.vms[i].host = 2;
        w.script[i] = (struct world_move){.vm = i, .to = 0, .priority = 3, .group = 1, .empties = true};
    }
    w.script[20] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 2, .priority = 3, .group = 1};
    w.n_script = 21;
    world_begin_engine();
    world_run(700);
    assert_int_equal(world_state(21), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    world_release();
}

/* So does a host that receives the VMs of two hosts, one at a time: the second one's plan does not grow old.
 */
static void test_filling_takes_long(void **state)
{
    struct world w;

    (void)state;
    world_init_standby(&w);
    w.n_vms = 20;
    w.settings.policy.migrations_per_host = 1;
    w.task_s = 70;
    for (uint32_t i = 0; i < 20; i++) {
        (void)snprintf(w.vms[i].id, sizeof w.vms[i].id, "vm%02u", i);
        w.vms[i].cpu = w.vms[i].mem = 100;
        w.vms[i].host = i < 19 ? 2 : 3;
        w.script[i] =
            (struct world_move){.vm = (int)i, .to = 0, .priority = 3, .group = 1 + i / 19, .empties = true};
    }
    for (uint32_t h = 2; h < 4; h++)
        w.script[18 + h] =
            (struct world_move){.kind = ACTION_POWER_OFF, .to = (int)h, .priority = 3, .group = h - 1};
    w.n_script = 22;
    world_begin_engine();
    world_run(1600);
    assert_int_equal(world_state(21), ACTION_DONE);
    assert_int_equal(world_state(22), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(w.host_state[3], HOST_STANDBY);
    world_release();
}

/* ---- second thoughts ------------------------------------------------------------------------- */

/* What the next pass wants, while h2 is being emptied. */
static const struct {
    const char *name;
    double high;
    bool wake; /* h3, which sleeps */
    enum action_state ends;
} withdraw_cases[] = {
    {"nothing", 0, false, ACTION_DONE},
    {"hosts stay too full", 0.5, false, ACTION_CANCELLED},
    {"a host is to be woken", 0, true, ACTION_CANCELLED},
};

static void test_second_thoughts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(withdraw_cases); i++) {
        struct world w;
        uint64_t ticket;

        print_message("  %s\n", withdraw_cases[i].name);
        world_init_standby(&w);
        w.host_state[3] = HOST_STANDBY;
        w.dirty_mb_s = 1; /* little enough for two moves at a time */
        w.task_s = 20;
        world_begin_engine();
        world_run(3);
        assert_int_equal(world_state(3), ACTION_APPROVED);
        w.high = withdraw_cases[i].high;
        w.script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1};
        w.n_script = withdraw_cases[i].wake;
        assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
        world_answer();
        if (withdraw_cases[i].wake) { /* the pass after it counts with h2, and wants nothing more */
            assert_int_equal(world_state(4), ACTION_RECOMMENDED);
            w.n_script = 0;
        }
        world_run(50);
        assert_int_equal(world_state(3), withdraw_cases[i].ends);
        assert_int_equal(w.downs[2], withdraw_cases[i].ends == ACTION_DONE);
        assert_int_equal(w.wakes[3], 0);
        assert_int_equal(seen(2), withdraw_cases[i].ends == ACTION_DONE ? HOST_STANDBY : HOST_ON);
        world_release();
    }
}

/* What stays needed after that is woken. */
static void test_needed_all_the_same(void **state)
{
    struct world w;
    uint64_t ticket;

    (void)state;
    world_init_standby(&w);
    w.host_state[3] = HOST_STANDBY;
    w.task_s = 20;
    world_begin_engine();
    world_run(3);
    w.script[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1};
    w.n_script = 1;
    assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
    world_run(150);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.wakes[3], 1);
    assert_int_equal(w.downs[2], 0);
    world_release();
}

/* VMs that do not fit are placed on the host that was to sleep, and no other one is woken for them. */
static void test_placing_takes_it_back(void **state)
{
    struct world w;
    const char *names[] = {"vm00"};
    const struct place_request request = {.vms = names, .n_vms = 1, .apply = true, .by = "tester"};
    uint64_t ticket;
    struct placement placed;

    (void)state;
    world_init_standby(&w);
    w.vms[0].off = true;
    w.task_s = 20;
    world_begin_engine();
    world_run(3);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    assert_int_equal(engine_place(w.engine, &request, w.now, &ticket, NULL), 0);
    world_answer(); /* nowhere yet */
    assert_int_equal(engine_place_result(w.engine, ticket, &placed, NULL), -EINPROGRESS);
    w.places[0] = (struct world_move){.kind = ACTION_PLACE, .vm = 0, .to = 2, .priority = 1};
    w.n_places = 1;
    w.n_script = 0;
    world_run(60);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.vms[0].host, 2);
    assert_false(w.vms[0].off);
    world_release();
}

/* A host that stays on does not have the VM that is registered on one which sleeps. */
static void test_placing_takes_none_back(void **state)
{
    (void)state;
    for (int has_vm = 0; has_vm < 2; has_vm++) {
        struct world w;
        const char *names[] = {"vm00"};
        const struct place_request request = {.vms = names, .n_vms = 1, .apply = true, .by = "tester"};
        uint64_t ticket;

        world_init_standby(&w);
        w.vms[0].off = true;
        w.vms[0].host = 3;
        w.host_state[3] = HOST_STANDBY;
        w.task_s = 20;
        w.places[0] = (struct world_move){.kind = ACTION_POWER_ON, .to = 3, .priority = 1, .has_vm = has_vm};
        w.places[1] =
            (struct world_move){.kind = ACTION_PLACE, .vm = 0, .to = 1, .priority = 1, .depends_on = 1};
        w.n_places = 2;
        world_begin_engine();
        world_run(3);
        assert_int_equal(world_state(3), ACTION_APPROVED);
        assert_int_equal(engine_place(w.engine, &request, w.now, &ticket, NULL), 0);
        world_answer();
        assert_int_equal(world_state(3), has_vm ? ACTION_APPROVED : ACTION_CANCELLED);
        world_release();
    }
}

/* ---- killed ---------------------------------------------------------------------------------- */

/* At any call: the next process puts the host down once, or finds that it sleeps, and knows it. */
static void test_killed(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at <= 60; at++) {
            struct world w;
            struct asleep *list;
            struct arena a = {0};

            begin(&w);
            w.hides = at % 2; /* what sleeps is shown as lost */
            (void)world_killed(mode, at, 60);
            world_run(400);
            assert_int_equal(w.downs[2], 1);
            assert_int_equal(w.host_state[2], HOST_STANDBY);
            for (uint64_t i = 0; i < w.n_actions; i++)
                assert_true(w.actions[i].ended != 0);
            assert_int_equal(seen(2), HOST_STANDBY);
            world_restart(); /* and once more, when it is over */
            world_run(5);
            assert_int_equal(seen(2), HOST_STANDBY);
            assert_int_equal(engine_asleep(w.engine, &a, &list), 1);
            assert_string_equal(list[0].host, "h2");
            assert_true(list[0].ours && list[0].there && list[0].since > WORLD_START);
            arena_release(&a);
            world_release();
        }
    }
}

/* A start that perhaps nobody has heard is not repeated when there is a VM by now. */
static void test_unclear_start_is_not_repeated_blindly(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    while (world_state(3) != ACTION_STARTING && w.n_tasks < 3) {
        bool last = world_state(1) == ACTION_DONE && world_state(2) == ACTION_DONE;

        if (last)
            w.start_code = -ETIMEDOUT; /* it has not been heard */
        world_second();
    }
    assert_int_equal(world_state(3), ACTION_STARTING);
    w.vms[0].host = 2;
    world_run(400);
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    world_release();
}

/* The call arrives and its answer is lost, and the host is shown as lost at once: that is the standby, no
 * failure of the host, and it ends as one. */
static void test_the_answer_is_lost(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.hides = true;
    while (w.downs[2] == 0) {
        w.start_lost = world_state(1) == ACTION_DONE && world_state(2) == ACTION_DONE;
        w.task_s = w.start_lost ? 0 : w.task_s;
        world_second();
    }
    for (int i = 0; i < 60; i++) {
        assert_int_not_equal(seen(2), HOST_DISCONNECTED);
        world_second();
    }
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(seen(2), HOST_STANDBY);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

/* ---- paused, rejected -------------------------------------------------------------------------- */

static void test_paused(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.task_s = 20;
    world_run(5);
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE); /* what ran is followed */
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    world_run(40);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

static void test_rejected(void **state)
{
    struct world w;
    const uint64_t off = 3;

    (void)state;
    begin(&w);
    w.settings.policy.avoid.reject_s = w.settings.policy.cool_down_s;
    engine_configure(w.engine, &w.settings, w.now);
    w.task_s = 20;
    world_run(5);
    assert_int_equal(engine_reject(w.engine, &off, 1, false, 0, "tester", w.now, NULL, NULL), 0);
    assert_int_equal(world_state(3), ACTION_REJECTED);
    world_run(500); /* the pass goes on recommending it */
    assert_int_equal(w.downs[2], 0);
    assert_int_equal(engine_snapshot(w.engine)->hosts[2].is.on_since, w.actions[2].ended);
    world_run(200);
    assert_int_equal(w.downs[2], 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emptied_and_put_down),
        cmocka_unit_test(test_passes_know),
        cmocka_unit_test(test_minimum_for_two),
        cmocka_unit_test(test_changes_before_it_begins),
        cmocka_unit_test(test_a_vm_appears),
        cmocka_unit_test(test_seen_empty_twice),
        cmocka_unit_test(test_a_move_is_not_over),
        cmocka_unit_test(test_source_lost_before_it_begins),
        cmocka_unit_test(test_a_vm_leaves_by_itself),
        cmocka_unit_test(test_a_move_fails),
        cmocka_unit_test(test_agents_stay),
        cmocka_unit_test(test_emptying_takes_long),
        cmocka_unit_test(test_filling_takes_long),
        cmocka_unit_test(test_second_thoughts),
        cmocka_unit_test(test_needed_all_the_same),
        cmocka_unit_test(test_placing_takes_it_back),
        cmocka_unit_test(test_placing_takes_none_back),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_unclear_start_is_not_repeated_blindly),
        cmocka_unit_test(test_the_answer_is_lost),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
