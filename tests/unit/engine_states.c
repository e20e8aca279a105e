/* Every state of an action and every transition out of it. */
#include "engine_world.h"

/* vm00 ... vm03 on h0; the script moves vm00 to h1. */
static void begin_one_move(struct world *w, enum automation automation)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = automation;
    w->hottest = 1.2; /* no waiting for a second pass */
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->n_script = 1;
    world_begin_engine();
}

static void test_manual_waits_for_apply(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    world_run(300);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED); /* five passes, one number */
    assert_int_equal(w.n_tasks, 0);
    assert_true(w.passes >= 5);
    assert_int_equal(world_apply(1), 0);
    assert_int_equal(world_state(1), ACTION_APPROVED);
    assert_string_equal(world_action(1)->approved_by, "tester");
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_string_equal(world_action(1)->task, "task-1");
    world_run(12);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(w.starts[0], 1);
    assert_int_equal(w.n_migrations, 1);
    assert_int_equal(world_apply(1), -EALREADY);
    assert_int_equal(world_apply(7), -EINVAL);
    world_release();
}

static void test_partial_waits_too(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_PARTIAL);
    world_run(200);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    world_release();
}

static void test_full_moves_by_itself(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    world_run(30);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_string_equal(world_action(1)->approved_by, "engine");
    world_release();
}

/* What the engine leaves to a person although the level is full. */
static const struct {
    const char *name;
    unsigned priority;
    enum automation vm;
    bool moves;
} full_cases[] = {
    {"important enough", 3, AUTOMATION_INHERIT, true},
    {"mandatory", 1, AUTOMATION_AUTOMATIC, true},
    {"slight, but the pass wants it", 5, AUTOMATION_INHERIT, true},
    {"the VM says manual", 1, AUTOMATION_MANUAL, false},
    {"the VM says disabled", 1, AUTOMATION_DISABLED, false},
};

static void test_full_has_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(full_cases); i++) {
        struct world w;

        print_message("  %s\n", full_cases[i].name);
        begin_one_move(&w, AUTOMATION_FULL);
        w.script[0].priority = full_cases[i].priority;
        w.vms[0].automation = full_cases[i].vm;
        world_run(40);
        assert_int_equal(world_state(1), full_cases[i].moves ? ACTION_DONE : ACTION_RECOMMENDED);
        world_release();
    }
}

static void test_two_passes_before_optional_moves(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.hottest = 0.7;
    world_run(50);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(w.passes_mandatory_only, 1);
    world_run(60);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();

    begin_one_move(&w, AUTOMATION_FULL); /* gone by the next pass, and back: counts anew */
    w.hottest = 0.7;
    world_run(30);
    w.imbalance = 0;
    w.n_script = 0;
    world_run(60);
    w.imbalance = 0.3;
    w.n_script = 1;
    world_run(60);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(w.passes_mandatory_only, 2);
    world_release();
}

static void test_expires_when_no_longer_recommended(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    world_run(5);
    w.script[0].vm = 1;
    world_run(60);
    assert_int_equal(world_state(1), ACTION_EXPIRED);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    assert_int_equal(world_apply(1), -EALREADY);
    /* what is gone is named, and keeps nothing else from being approved */
    const uint64_t both[] = {1, 2, 9};
    struct arena a = {0};
    struct left_outs rest = {.a = &a};
    struct err err = {0};

    assert_int_equal(engine_approve(w.engine, both, NULL, 1, "tester", w.now, &rest, &err), -EALREADY);
    assert_non_null(strstr(err.text, "recommendation 1 is expired already: "));
    rest.n = 0;
    assert_int_equal(engine_approve(w.engine, both, NULL, 3, "tester", w.now, &rest, &err), 0);
    assert_int_equal(rest.n, 2);
    assert_int_equal(rest.list[0].id, 1);
    assert_int_equal(rest.list[1].id, 9);
    assert_non_null(strstr(rest.list[0].why, "recommendation 1 is expired already: "));
    assert_non_null(strstr(rest.list[1].why, "there is no recommendation 9"));
    assert_int_equal(world_state(2), ACTION_APPROVED);
    rest.n = 0;
    assert_int_equal(engine_reject(w.engine, both, 3, false, 0, "tester", w.now, &rest, &err), 0);
    assert_int_equal(rest.n, 2);
    assert_int_equal(world_state(2), ACTION_REJECTED);
    rest.n = 0;
    assert_int_equal(engine_approve(w.engine, both, NULL, 3, "tester", w.now, &rest, &err), -EALREADY);
    assert_non_null(strstr(err.text, "; nor could any of the others"));
    arena_release(&a);
    world_release();
}

static void test_reject(void **state)
{
    struct world w;
    const uint64_t ids[] = {1, 2};

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    w.script[1] = (struct world_move){.vm = 1, .to = 0, .priority = 3, .depends_on = 1};
    w.vms[1].host = 2;
    w.n_script = 2;
    world_run(5);
    assert_int_equal(engine_reject(w.engine, ids, 1, false, 0, "tester", w.now, NULL, NULL), 0);
    assert_int_equal(world_state(1), ACTION_REJECTED);
    assert_string_equal(world_action(2)->why, "rejected by tester"); /* it depended on it */
    assert_int_equal(engine_reject(w.engine, ids, 1, false, 0, "tester", w.now, NULL, NULL), -EALREADY);
    /* the snapshot of the next pass keeps the VM, and the other for its cool-down */
    world_run(70);
    const struct snapshot *s = engine_snapshot(w.engine);
    assert_int_equal(s->n_avoid, 1);
    assert_int_equal(s->avoid[0].vm, snapshot_find_vm(s, "vm00"));
    assert_true(s->avoid[0].is_rejection);
    assert_true(s->vms[snapshot_find_vm(s, "vm01")].is.last_migrated > WORLD_START);
    world_release();
}

static void test_apply_needs_what_it_depends_on(void **state)
{
    struct world w;
    uint64_t ids[] = {2, 1};

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    w.script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3, .depends_on = 1};
    w.n_script = 2;
    world_run(5);
    assert_int_equal(world_apply(2), -EBUSY);
    assert_int_equal(engine_approve(w.engine, ids, NULL, 2, "tester", w.now, NULL, NULL), 0);
    world_run(4);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(2), ACTION_APPROVED); /* waits */
    world_run(30);
    assert_int_equal(world_state(2), ACTION_DONE);
    world_release();
}

static void test_failure_takes_dependents_along(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3, .depends_on = 1};
    w.script[2] = (struct world_move){.vm = 2, .to = 2, .priority = 3, .depends_on = 2};
    w.n_script = 3;
    w.tasks_fail = true;
    world_run(30);
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.starts[1] + w.starts[2], 0);
    world_release();
}

static void test_groups_stand_and_fall_together(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.script[0].group = w.script[1].group = 1;
    w.script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3, .group = 1};
    w.vms[1].automation = AUTOMATION_MANUAL; /* one of the two may not go, so neither does */
    w.n_script = 2;
    world_run(30);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(world_apply(1), -EBUSY);
    world_release();
}

/* What the peer answers to check or start, and what becomes of the action. */
static const struct {
    const char *name;
    int check, start;
    enum action_state after; /* 20 s later */
    int starts;
} answer_cases[] = {
    {"all is well", 0, 0, ACTION_DONE, 1},
    {"check: moved meanwhile", -ESTALE, 0, ACTION_CANCELLED, 0},
    {"check: gone", -ENOENT, 0, ACTION_CANCELLED, 0},
    {"check: refused", -EPERM, 0, ACTION_FAILED, 0},
    {"check: no answer, then well", -ETIMEDOUT, 0, ACTION_DONE, 1},
    {"start: refused", 0, -EPERM, ACTION_FAILED, 0},
    {"start: no longer there", 0, -ESTALE, ACTION_CANCELLED, 0},
    {"start: gone", 0, -ENOENT, ACTION_CANCELLED, 0},
    {"start: no answer, then well", 0, -ETIMEDOUT, ACTION_DONE, 1},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(answer_cases); i++) {
        struct world w;

        print_message("  %s\n", answer_cases[i].name);
        begin_one_move(&w, AUTOMATION_FULL);
        w.check_code = answer_cases[i].check;
        w.start_code = answer_cases[i].start;
        world_run(25);
        assert_int_equal(world_state(1), answer_cases[i].after);
        assert_int_equal(w.starts[0], answer_cases[i].starts);
        world_release();
    }
}

static void test_start_whose_answer_is_lost_is_adopted(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.start_lost = true;
    world_run(25);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.starts[0], 1);
    world_release();
}

static void test_hanging_task_is_cancelled(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.tasks_stick = true;
    world_run(290);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_FAILED);
    assert_true(world_action(1)->cancel_asked);
    world_release();

    begin_one_move(&w, AUTOMATION_FULL);
    w.tasks_stick = w.cannot_cancel = true;
    world_run(400);
    assert_int_equal(world_state(1), ACTION_RUNNING); /* followed to its end */
    w.tasks[0].stuck = false;
    world_run(30);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();
}

static void test_only_an_inventory_makes_it_done(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    world_run(4);
    w.source_silent = true;
    world_run(20);
    assert_int_equal(w.tasks[0].state, TASK_SUCCEEDED);
    assert_int_equal(world_state(1), ACTION_VERIFYING);
    w.source_silent = false;
    world_run(3);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();

    begin_one_move(&w, AUTOMATION_FULL); /* the peer says done, the VM stays */
    world_run(4);
    w.tasks[0].ends = w.now + 1000;
    w.tasks[0].state = TASK_SUCCEEDED;
    world_run(20);
    assert_int_equal(world_state(1), ACTION_FAILED);
    world_release();
}

static void test_forgotten_task(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL); /* forgotten, but it had happened */
    world_run(4);
    w.tasks[0].forgotten = true;
    w.vms[0].host = 1;
    world_run(10);
    assert_int_equal(world_state(1), ACTION_DONE);
    world_release();

    begin_one_move(&w, AUTOMATION_FULL); /* forgotten, and it had not */
    world_run(4);
    w.tasks[0].forgotten = w.tasks[0].stuck = true;
    world_run(10);
    assert_int_equal(world_state(1), ACTION_FAILED);
    world_release();
}

static void change_nothing(void)
{
}

static void vm_goes(void)
{
    W->vms[0].host = -1;
}

static void vm_moves(void)
{
    W->vms[0].host = 2;
}

static void vm_arrives(void)
{
    W->vms[0].host = 1;
}

static void vm_stops(void)
{
    W->vms[0].off = true;
}

static void source_host_lost(void)
{
    W->host_state[0] = HOST_DISCONNECTED;
}

static void target_leaves(void)
{
    W->host_state[1] = HOST_ENTERING_MAINTENANCE;
}

static void source_goes(void)
{
    W->source_down = true;
}

/* What changes while an approved action waits for its turn (the service is paused), and what becomes of it,
 * told with the names that people know. */
static const struct {
    const char *name;
    void (*change)(void);
    instant_s wait;
    enum action_state after;
    unsigned priority; /* 0: as the script says */
    const char *why;
} change_cases[] = {
    {"nothing", change_nothing, 30, ACTION_DONE},
    {"nothing, but for too long", change_nothing, 150, ACTION_CANCELLED},
    {"nothing, for long, and it must be done", change_nothing, 150, ACTION_DONE, 1},
    {"the VM is gone", vm_goes, 30, ACTION_CANCELLED},
    {"the VM is elsewhere", vm_moves, 30, ACTION_CANCELLED},
    {"the VM is there already", vm_arrives, 30, ACTION_CANCELLED},
    {"the VM is off", vm_stops, 30, ACTION_CANCELLED, .why = "VM web is off"},
    {"its host is not seen", source_host_lost, 30, ACTION_CANCELLED, .why = "host esx is no longer seen"},
    {"the destination is leaving", target_leaves, 30, ACTION_CANCELLED},
    {"the source is lost for a while", source_goes, 30, ACTION_APPROVED},
    {"the source is lost for long", source_goes, 150, ACTION_CANCELLED},
};

static void test_changes_while_it_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(change_cases); i++) {
        struct world w;

        print_message("  %s\n", change_cases[i].name);
        begin_one_move(&w, AUTOMATION_MANUAL);
        w.vm_name = "web";
        w.host_name = "esx";
        if (change_cases[i].priority)
            w.script[0].priority = change_cases[i].priority;
        world_run(5);
        w.script[0].vm = 3; /* later passes do not recommend it again */
        assert_int_equal(world_apply(1), 0);
        assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
        change_cases[i].change();
        world_run(change_cases[i].wait);
        assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
        world_run(15);
        assert_int_equal(world_state(1), change_cases[i].after);
        if (change_cases[i].after != ACTION_DONE)
            assert_int_equal(w.n_tasks, 0);
        if (change_cases[i].why)
            assert_string_equal(world_action(1)->why, change_cases[i].why);
        world_release();
    }
}

static void test_vm_vanishes_between_collecting_and_moving(void **state)
{
    struct world w;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    engine_tick(w.engine, ++w.now);
    world_answer(); /* seen, planned, approved, and check is on its way */
    assert_int_equal(world_state(1), ACTION_APPROVED);
    w.vms[0].host = -1;
    world_run(10);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

static void test_maintenance(void **state)
{
    struct world w;
    uint64_t id = 0;
    struct err err;

    (void)state;
    begin_one_move(&w, AUTOMATION_FULL);
    w.n_script = 0;
    w.imbalance = 0;
    world_run(5);
    assert_int_equal(engine_maintenance(w.engine, "h9", true, "tester", w.now, &id, NULL, &err), -EINVAL);
    assert_int_equal(engine_maintenance(w.engine, "h0", false, "tester", w.now, &id, NULL, &err), -EBUSY);
    assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &id, NULL, &err), 0);
    assert_int_equal(id, 1);
    for (int i = 0; i < 4; i++)
        w.script[i] = (struct world_move){.vm = i, .to = 1 + i % 2, .priority = 1};
    w.n_script = 4;
    world_run(3);
    const struct snapshot *s = engine_snapshot(w.engine);
    assert_int_equal(s->hosts[snapshot_find_host(s, "h0")].is.state, HOST_ENTERING_MAINTENANCE);
    assert_int_equal(world_state(1), ACTION_APPROVED); /* not before it is empty */
    world_run(120);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.host_state[0], HOST_MAINTENANCE);
    assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &id, NULL, &err), 0);
    assert_int_equal(id, 0); /* it is there */
    assert_int_equal(engine_maintenance(w.engine, "h0", false, "tester", w.now, &id, NULL, &err), 0);
    world_run(20);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_int_equal(w.host_state[0], HOST_ON);
    world_release();
}

/* An approved move into a host that is to be emptied would have to be taken back at once. */
static void test_maintenance_stops_moves_into_the_host(void **state)
{
    struct world w;
    uint64_t id = 0;
    struct err err;

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    world_run(5);
    assert_int_equal(world_apply(1), 0); /* check is on its way */
    assert_int_equal(engine_maintenance(w.engine, "h1", true, "tester", w.now, &id, NULL, &err), 0);
    world_run(20);
    assert_int_equal(w.starts[0], 0);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(world_state(id), ACTION_DONE);
    world_release();
}

/* Which host is meant is not guessed. */
static void test_maintenance_of_a_name_that_two_have(void **state)
{
    struct world w;
    uint64_t id = 0;
    struct err err = {0};

    (void)state;
    begin_one_move(&w, AUTOMATION_MANUAL);
    w.host_name = "esx";
    world_run(5);
    assert_int_equal(engine_maintenance(w.engine, "esx", true, "tester", w.now, &id, NULL, &err), -EINVAL);
    assert_non_null(strstr(err.text, "h0"));
    assert_int_equal(engine_maintenance(w.engine, "h1", true, "tester", w.now, &id, NULL, &err), 0);
    assert_string_equal(world_action(id)->host, "h1");
    world_release();
}

/* Nobody needs an evacuation any more when the host is back in service, whoever put it back. */
static void test_evacuation_ends_with_its_reason(void **state)
{
    (void)state;
    for (int by_ballast = 0; by_ballast < 2; by_ballast++) {
        struct world w;
        uint64_t id = 0;
        uint64_t ticket;

        begin_one_move(&w, AUTOMATION_FULL);
        w.n_script = 0;
        w.settings.policy.migrations_per_host = 1;
        engine_configure(w.engine, &w.settings, w.now);
        world_run(2);
        if (by_ballast)
            assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &id, NULL, NULL), 0);
        else
            w.host_state[0] = HOST_ENTERING_MAINTENANCE;
        for (int i = 0; i < 4; i++)
            w.script[i] = (struct world_move){.vm = i, .to = 1 + i % 2, .priority = 1, .evacuates = true};
        w.n_script = 4;
        assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0);
        world_run(4);
        assert_int_equal(world_running(-1), 1); /* the others wait for its slot */
        w.n_script = 0;
        if (by_ballast)
            assert_int_equal(engine_maintenance(w.engine, "h0", false, "tester", w.now, &id, NULL, NULL), 0);
        else
            w.host_state[0] = HOST_ON;
        assert_int_equal(engine_run(w.engine, w.now, &ticket, NULL), 0); /* seen before the move ends */
        world_run(90);
        assert_int_equal(w.starts[0] + w.starts[1] + w.starts[2] + w.starts[3], 1);
        world_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual_waits_for_apply),
        cmocka_unit_test(test_partial_waits_too),
        cmocka_unit_test(test_full_moves_by_itself),
        cmocka_unit_test(test_full_has_limits),
        cmocka_unit_test(test_two_passes_before_optional_moves),
        cmocka_unit_test(test_expires_when_no_longer_recommended),
        cmocka_unit_test(test_reject),
        cmocka_unit_test(test_apply_needs_what_it_depends_on),
        cmocka_unit_test(test_failure_takes_dependents_along),
        cmocka_unit_test(test_groups_stand_and_fall_together),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_start_whose_answer_is_lost_is_adopted),
        cmocka_unit_test(test_hanging_task_is_cancelled),
        cmocka_unit_test(test_only_an_inventory_makes_it_done),
        cmocka_unit_test(test_forgotten_task),
        cmocka_unit_test(test_changes_while_it_waits),
        cmocka_unit_test(test_vm_vanishes_between_collecting_and_moving),
        cmocka_unit_test(test_maintenance),
        cmocka_unit_test(test_maintenance_stops_moves_into_the_host),
        cmocka_unit_test(test_maintenance_of_a_name_that_two_have),
        cmocka_unit_test(test_evacuation_ends_with_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
