/* The process is killed at every call to the outside, in three ways, and starts again: each approved move
 * happens exactly once, and every approved action ends. */
#include "engine_world.h"

#define CRASH_POINTS 60
#define SCENARIO_S 40

static const char *const mode_words[CRASH_MODES] = {"before its effect", "after its effect",
                                                    "the worker still begins it"};

/* Three moves, one of which waits for another. */
static void begin_moves(struct world *w, enum automation automation)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = automation;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3, .depends_on = 1};
    w->script[2] = (struct world_move){.vm = 2, .to = 2, .priority = 3};
    w->n_script = 3;
    world_begin_engine();
}

static void expect_moved_once(const struct world *w)
{
    static const int where[] = {1, 2, 2, 0};

    for (int i = 0; i < w->n_vms; i++) {
        assert_int_equal(w->vms[i].host, where[i]);
        assert_true(w->starts[i] <= 1);
    }
    /* nothing is left half done; a number that was given once is not given twice */
    for (uint64_t i = 0; i < w->n_actions; i++) {
        assert_int_equal(w->actions[i].id, i + 1);
        assert_true(w->actions[i].ended != 0);
    }
}

static void test_killed_at_every_call(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        int died = 0;

        for (int at = 1; at <= CRASH_POINTS; at++) {
            struct world w;

            begin_moves(&w, AUTOMATION_FULL);
            died += world_killed(mode, at, SCENARIO_S);
            world_run(200);
            expect_moved_once(&w);
            world_release();
        }
        print_message("  died %d times, %s\n", died, mode_words[mode]);
        assert_true(died > 20);
    }
}

/* What a person approved survives too, and what nobody approved is not begun by a restart. */
static void test_manual_restart(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_MANUAL);
    world_run(5);
    world_restart();
    world_run(100);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED); /* the same numbers */
    assert_int_equal(world_state(4), action_state_count);
    assert_int_equal(world_apply(1), 0);
    world_restart();
    world_run(20);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.starts[1] + w.starts[2], 0);
    world_release();
}

static int apply_versions(const struct world *w, const uint64_t *ids, const uint32_t *versions, size_t n,
                          struct err *err)
{
    return engine_approve(w->engine, ids, versions, n, "tester", w->now, NULL, err);
}

/* An approval is for the destination that was read. Whatever the passes and a restart did to it since, it is
 * not approved, nor what needs it; what is as it was read is. */
static void test_approves_the_destination_that_was_read(void **state)
{
    const uint64_t ids[] = {1, 2}; /* 2 needs 1 */
    const uint64_t others[] = {1, 3};
    const uint32_t read_later[] = {3, 1};
    const uint32_t not_there[] = {4, 1};
    struct err err = {0};
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_MANUAL);
    world_run(5);
    w.script[0].to = 2;
    world_run(300);
    assert_int_equal(world_action(1)->version, 2);
    assert_int_equal(world_action(3)->version, 1);
    assert_int_equal(apply_versions(&w, ids, NULL, 2, &err), -ESTALE);
    assert_non_null(strstr(err.text, "recommendation 1 now goes to h2 (until "));
    assert_non_null(strstr(err.text, " UTC to h1); `ballast apply 1.2` approves that; nor could "));
    world_restart();
    world_run(300);
    assert_int_equal(apply_versions(&w, ids, NULL, 2, &err), -ESTALE);
    w.script[0].to = 1; /* back where it was, but that is not what was read last */
    world_run(300);
    assert_int_equal(world_action(1)->version, 3);
    assert_int_equal(apply_versions(&w, ids, (const uint32_t[]){2, 1}, 2, &err), -ESTALE);
    assert_int_equal(apply_versions(&w, ids, not_there, 2, &err), -EINVAL);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(apply_versions(&w, others, not_there, 2, &err), 0);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    assert_int_equal(apply_versions(&w, ids, read_later, 2, &err), 0);
    world_run(20);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(world_state(3), ACTION_DONE);
    world_release();
}

/* Another cluster has a vm00 too, and tasks by the same names: nothing of the first one is done there. */
static void test_store_of_another_source(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_MANUAL);
    w.tasks_stick = true;
    world_run(5);
    assert_int_equal(world_apply(1), 0);
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    w.check_code = -EBUSY;
    assert_int_equal(world_apply(2), 0); /* approved, and not begun */
    world_run(2);
    int tasks = w.n_tasks;

    w.n_known = 1; /* and a host that was put to standby there: it is not forgotten without a word */
    w.known[0] = (struct host_record){.host = "h2", .put_down = w.now, .boot_s = UNKNOWN};
    w.settings.source = "another";
    world_restart();
    assert_int_equal(w_count_events("fault"), 1);
    world_run(3);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_int_equal(world_apply(3), -EALREADY);
    world_run(600);
    assert_int_equal(w.n_tasks, tasks);
    assert_int_equal(w.tasks[0].state, TASK_RUNNING); /* nor is it asked to stop */
    assert_string_equal(w.source_note, "another");
    assert_int_equal(world_apply(w.n_actions), 0); /* what is recommended there has numbers of its own */
    assert_true(w.n_actions > 3);
    world_restart();
    world_run(2);
    assert_int_not_equal(world_state(w.n_actions), ACTION_CANCELLED); /* the same one again */
    world_release();
}

/* By how much the clock was set back between two processes, nobody knows: the plan may be of any age. */
static void test_approved_in_the_future(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_MANUAL);
    world_run(5);
    w.check_code = -EBUSY;
    assert_int_equal(world_apply(1), 0);
    world_run(2);
    w.now -= 7200;
    world_restart();
    world_run(100);
    assert_int_equal(world_state(1), ACTION_CANCELLED);
    assert_int_equal(w.n_tasks, 0);
    world_release();
}

/* A task that runs while nobody watches is followed to its end, good or bad. */
static const struct {
    const char *name;
    instant_s away;
    bool fails, forgotten;
    enum action_state after;
} away_cases[] = {
    {"back before its end", 2, false, false, ACTION_DONE},
    {"back after its end", 60, false, false, ACTION_DONE},
    {"it failed meanwhile", 60, true, false, ACTION_FAILED},
    {"the peer forgot it, but it happened", 60, false, true, ACTION_DONE},
    {"the peer forgot it, and it did not", 60, true, true, ACTION_FAILED},
};

static void test_task_is_adopted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(away_cases); i++) {
        struct world w;

        print_message("  %s\n", away_cases[i].name);
        begin_moves(&w, AUTOMATION_FULL);
        w.n_script = 1;
        world_run(3);
        assert_int_equal(world_state(1), ACTION_RUNNING);
        w.tasks_fail = away_cases[i].fails;
        w.now += away_cases[i].away;
        w_tasks_go_on();
        w.tasks[0].forgotten = away_cases[i].forgotten;
        w.n_script = 0;
        world_restart();
        assert_int_equal(world_state(1), ACTION_RUNNING);
        world_run(15);
        assert_int_equal(world_state(1), away_cases[i].after);
        assert_int_equal(w.starts[0], 1);
        world_release();
    }
}

/* Where an action that was being started stands, is asked of a fresh inventory before anything else. */
static const struct {
    const char *name;
    int host; /* of the VM when the process is back; -1: gone */
    enum action_state after;
    int starts;
} starting_cases[] = {
    {"still where it was", 0, ACTION_DONE, 1},
    {"arrived", 1, ACTION_DONE, 0},
    {"somewhere else", 2, ACTION_CANCELLED, 0},
    {"gone", -1, ACTION_CANCELLED, 0},
};

static void test_starting_without_a_task(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(starting_cases); i++) {
        struct world w;

        print_message("  %s\n", starting_cases[i].name);
        begin_moves(&w, AUTOMATION_FULL);
        w.n_script = 1;
        engine_tick(w.engine, ++w.now);
        world_answer();
        struct job check = w.jobs[0];
        struct job_result r = w_carry_out(&check);

        w.n_jobs = 0;
        engine_on_job_result(w.engine, &check, &r, w.now);
        assert_int_equal(world_state(1), ACTION_STARTING);
        assert_int_equal(w.actions[0].state, ACTION_STARTING); /* stored before the job went out */
        assert_int_equal(w.n_jobs, 1);
        w.vms[0].host = starting_cases[i].host;
        w.n_script = 0;
        world_restart(); /* the job is lost */
        engine_tick(w.engine, ++w.now);
        assert_int_equal(w.n_jobs, 0); /* not before an inventory */
        world_run(20);
        assert_int_equal(world_state(1), starting_cases[i].after);
        assert_int_equal(w.starts[0], starting_cases[i].starts);
        world_release();
    }
}

/* A start whose call may not have arrived: the process is away for a while, or the service is paused. */
static const struct {
    const char *name;
    enum action_kind kind; /* a migration, unless it says otherwise */
    bool heard, paused;
    instant_s away;
    enum action_state after;
    int starts;
    instant_s task_s; /* 0: as usual */
} unheard_cases[] = {
    {"a move, a moment later", .away = 3, .after = ACTION_DONE, .starts = 1},
    {"a start, a moment later", ACTION_PLACE, .away = 3, .after = ACTION_DONE, .starts = 1},
    {"a wake, a moment later", ACTION_POWER_ON, .away = 3, .after = ACTION_DONE, .starts = 1},
    {"a move, a day later", .away = 86400, .after = ACTION_CANCELLED},
    {"a start, a day later", ACTION_PLACE, .away = 86400, .after = ACTION_CANCELLED},
    {"a wake, a day later", ACTION_POWER_ON, .away = 86400, .after = ACTION_CANCELLED},
    {"a start, with the clock set back", ACTION_PLACE, .away = -7200, .after = ACTION_CANCELLED},
    {"a wake, with the clock set back", ACTION_POWER_ON, .away = -7200, .after = ACTION_CANCELLED},
    {"a start that was heard", ACTION_PLACE, .heard = true, .away = 3, .after = ACTION_DONE, .starts = 1},
    {"a move that was heard, and takes longer than a plan holds", .heard = true, .away = 150,
     .after = ACTION_DONE, .starts = 1, .task_s = 170},
    {"a move that was heard and takes a day, paused", .heard = true, .paused = true, .away = 3,
     .after = ACTION_RUNNING, .starts = 1, .task_s = 86400},
    {"a move, paused", .paused = true, .away = 3, .after = ACTION_STARTING},
    {"a start, paused", ACTION_PLACE, .paused = true, .away = 3, .after = ACTION_STARTING},
    {"a wake, paused", ACTION_POWER_ON, .paused = true, .away = 3, .after = ACTION_STARTING},
    {"a start that was heard, paused", ACTION_PLACE, .heard = true, .paused = true, .away = 3,
     .after = ACTION_DONE, .starts = 1},
};

/* Approved, by what a person says. */
static void approve_one(struct world *w, enum action_kind kind)
{
    const char *const vms[] = {"vm03"};
    const struct place_request q = {.vms = vms, .n_vms = 1, .apply = true, .by = "tester"};
    uint64_t ticket;

    begin_moves(w, AUTOMATION_MANUAL);
    w->n_script = 1;
    if (kind == ACTION_POWER_ON) {
        w->host_state[2] = HOST_STANDBY;
        w->script[0] = (struct world_move){.kind = kind, .to = 2, .priority = 1};
    }
    if (kind != ACTION_PLACE) {
        world_run(2);
        assert_int_equal(world_apply(1), 0);
        return;
    }
    w->n_script = 0;
    w->vms[3].off = true;
    w->places[0] = (struct world_move){.kind = kind, .vm = 3, .to = 1, .priority = 1};
    w->n_places = 1;
    world_run(2);
    assert_int_equal(engine_place(w->engine, &q, w->now, &ticket, NULL), 0);
    world_answer();
}

/* Checked and stored as starting; what comes after that gets lost. */
static void begin_unheard(struct world *w, enum action_kind kind, bool heard, instant_s task_s)
{
    approve_one(w, kind);
    w->task_s = task_s ? task_s : w->task_s;
    struct job check = w->jobs[0];

    assert_int_equal(check.kind, JOB_CHECK);
    struct job_result r = w_carry_out(&check);

    w->n_jobs = 0;
    engine_on_job_result(w->engine, &check, &r, w->now);
    assert_int_equal(w->actions[0].state, ACTION_STARTING);
    if (heard)
        (void)w_carry_out(&w->jobs[0]);
    w->n_jobs = 0;
    w->n_script = 0;
}

static int starts_of(const struct world *w, enum action_kind kind)
{
    return kind == ACTION_POWER_ON ? w->wakes[2] : w->starts[kind == ACTION_PLACE ? 3 : 0];
}

static void test_start_that_nobody_heard(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(unheard_cases); i++) {
        struct world w;
        enum action_kind kind = unheard_cases[i].kind;

        print_message("  %s\n", unheard_cases[i].name);
        begin_unheard(&w, kind, unheard_cases[i].heard, unheard_cases[i].task_s);
        if (unheard_cases[i].paused)
            assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
        w.now += unheard_cases[i].away;
        world_restart();
        world_run(60);
        assert_int_equal(world_state(1), unheard_cases[i].after);
        assert_int_equal(starts_of(&w, kind), unheard_cases[i].starts);
        if (unheard_cases[i].after == ACTION_STARTING) {
            assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
            world_run(20);
            assert_int_equal(world_state(1), ACTION_DONE);
            assert_int_equal(starts_of(&w, kind), 1);
        }
        world_release();
    }
}

static void test_cool_down_and_pause_survive(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_FULL);
    w.n_script = 1;
    world_run(20);
    instant_s ended = world_action(1)->ended;
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    w.script[0].to = 2;
    world_restart();
    world_run(70);
    const struct snapshot *s = engine_snapshot(w.engine);
    assert_int_equal(s->vms[snapshot_find_vm(s, "vm00")].is.last_migrated, ended);
    struct engine_status st;
    engine_status(w.engine, &st);
    assert_true(st.paused);
    assert_string_equal(st.paused_by, "tester");
    assert_int_equal(w.n_tasks, 1); /* recommended, and nothing begun */
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    world_restart();
    engine_status(w.engine, &st);
    assert_false(st.paused);
    assert_null(st.paused_by);
    world_release();
}

/* The hypervisor forgot the task, so nothing is known of its end; a restart does not make it a success. */
static void test_unclear_end_survives(void **state)
{
    struct world w;

    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        begin_moves(&w, AUTOMATION_FULL);
        w.n_script = 1;
        w.task_s = 600;
        for (int s = 0; s < 60 && world_state(1) != ACTION_RUNNING; s++)
            world_second();
        w.tasks[0].forgotten = true;
        w.source_silent = true;
        for (int s = 0; s < 60 && world_state(1) != ACTION_VERIFYING; s++)
            world_second();
        assert_int_equal(world_state(1), ACTION_VERIFYING);
        if (restart)
            world_restart();
        w.source_silent = false;
        w.n_script = 0;
        world_run(120);
        assert_int_equal(world_state(1), ACTION_FAILED);
        assert_string_equal(world_action(1)->why, "the task failed; the inventory shows no change");
        assert_null(world_action(1)->ended_by);
        world_release();
    }
}

/* A failed move's back-off is not forgotten by a restart. */
static void test_back_off_survives(void **state)
{
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_FULL);
    w.n_script = 1;
    w.tasks_fail = true;
    world_run(20);
    assert_int_equal(w.starts[0], 1);
    for (int i = 0; i < 5; i++) {
        world_restart();
        world_run(70);
    }
    assert_int_equal(w.starts[0], 1);
    world_release();
}

/* A store that is a copy, or older than the one before: nothing begins until a person resumes, however often
 * the service is killed before, also between its first looks. */
static void test_restored_store(void **state)
{
    struct engine_status st;
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_FULL);
    (void)snprintf(w.restored_note, sizeof w.restored_note, "the store is a copy");
    for (int i = 0; i < 3; i++) {
        world_restart();
        engine_status(w.engine, &st);
        assert_true(st.paused && st.paused_since <= w.now);
        assert_string_equal(st.paused_by, "ballastd");
        assert_string_equal(st.restored, "the store is a copy");
        if (i == 0)
            continue;
        world_run(200);
        assert_int_equal(w.n_tasks, 0);
    }
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    world_restart();
    engine_status(w.engine, &st);
    assert_true(!st.paused && !st.restored && !w.restored_note[0]);
    world_run(100);
    assert_true(w.n_tasks > 0);

    /* a person's pause in the copy stays that person's, and its end ends both */
    assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
    (void)snprintf(w.restored_note, sizeof w.restored_note, "the store is a copy");
    world_restart();
    engine_status(w.engine, &st);
    assert_true(st.paused && st.restored);
    assert_string_equal(st.paused_by, "tester");
    assert_int_equal(engine_resume(w.engine, "tester", w.now, NULL), 0);
    assert_true(!w.restored_note[0] && !w.paused_note[0]);
    world_release();
}

/* A machine starts with a clock that is a year ahead, and sets it right after ten minutes: nothing was
 * deleted as too old. What is too old goes in the hours after that. */
static void test_clock_ahead_at_the_start(void **state)
{
    const instant_s year = 366 * 24 * 3600, month = 30 * 24 * 3600, day = 24 * 3600;
    struct world w;

    (void)state;
    begin_moves(&w, AUTOMATION_FULL);
    w.settings.history_days = 30;
    world_run(100);
    w.now += year;
    world_restart();
    world_run(600);
    assert_int_equal(w.kept_since, 0);
    assert_int_equal(engine_pruned(w.engine), 0); /* nor are events */
    w.now -= year;
    world_run(day - 100);
    assert_int_equal(w.kept_since, 0);
    world_run(200);
    assert_in_range(w.kept_since, w.now - month - 200, w.now - month);
    assert_in_range(engine_pruned(w.engine), w.now - 200, w.now);
    const instant_s before = w.kept_since;

    w.now += year; /* while it runs, too */
    world_run(600);
    assert_int_equal(w.kept_since, before);
    w.now -= year;
    world_run(day - 100);
    assert_int_equal(w.kept_since, before);
    world_run(200);
    assert_in_range(w.kept_since, w.now - month - 200, w.now - month);

    /* the newest record is from long ago: an hour after each start, a day after such a one */
    for (int leaps = 0; leaps < 2; leaps++) {
        w.kept_since = 0;
        w.newest_record = w.now - (leaps ? 10 : 0) * day - 60;
        world_restart();
        world_run((leaps ? day : 3600) - 100);
        assert_int_equal(w.kept_since, 0);
        world_run(200);
        assert_int_not_equal(w.kept_since, 0);
    }
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_at_every_call),
        cmocka_unit_test(test_manual_restart),
        cmocka_unit_test(test_approves_the_destination_that_was_read),
        cmocka_unit_test(test_store_of_another_source),
        cmocka_unit_test(test_approved_in_the_future),
        cmocka_unit_test(test_task_is_adopted),
        cmocka_unit_test(test_starting_without_a_task),
        cmocka_unit_test(test_start_that_nobody_heard),
        cmocka_unit_test(test_cool_down_and_pause_survive),
        cmocka_unit_test(test_back_off_survives),
        cmocka_unit_test(test_unclear_end_survives),
        cmocka_unit_test(test_restored_store),
        cmocka_unit_test(test_clock_ahead_at_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
