/* Rules that the engine keeps in every situation: limits, data age, one move per VM, the order of stores
 * and calls. */
#include "engine_world.h"

#include "base/rng.h"

static void begin_many(struct world *w, int per_host, int per_cluster)
{
    world_init(w, 4, 12);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.migrations_per_host = per_host;
    w->settings.policy.migrations_per_cluster = per_cluster;
    w->hottest = 1.2;
    w->task_s = 6;
    for (int i = 0; i < 9; i++)
        w->script[i] = (struct world_move){.vm = i, .to = 1 + i % 3, .priority = 2};
    w->n_script = 9;
    world_begin_engine();
}

static const struct {
    int per_host, per_cluster;
    int most; /* at a time, in all: every move leaves h0 */
} limit_cases[] = {{2, 0, 2}, {4, 0, 4}, {8, 3, 3}, {1, 1, 1}};

static void test_concurrency_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(limit_cases); i++) {
        struct world w;
        int most = 0;

        begin_many(&w, limit_cases[i].per_host, limit_cases[i].per_cluster);
        for (int s = 0; s < 115; s++) {
            world_second();
            for (int h = 0; h < 4; h++)
                assert_true(world_running(h) <= limit_cases[i].per_host);
            most = world_running(-1) > most ? world_running(-1) : most;
        }
        assert_int_equal(most, limit_cases[i].most);
        for (int vm = 0; vm < 9; vm++)
            assert_true(w.starts[vm] <= 1);
        world_release();
    }
}

static void test_urgent_ones_first(void **state)
{
    struct world w;

    (void)state;
    begin_many(&w, 1, 1);
    w.script[8].priority = 1;
    world_run(4);
    assert_int_equal(w.starts[8], 1);
    world_release();
}

/* A second plan's move into a host waits for the moves of the first that leave it. */
static void test_later_plans_wait_for_room(void **state)
{
    struct world w;

    (void)state;
    begin_many(&w, 8, 0);
    w.n_script = 1;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 2}; /* leaves h0 */
    w.task_s = 100;
    w.vms[5].host = 2;
    world_run(10);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    w.script[0] = (struct world_move){.vm = 5, .to = 0, .priority = 2};
    world_run(60);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    assert_int_equal(world_action(2)->n_depends_on, 1);
    assert_int_equal(world_action(2)->depends_on[0], 1);
    world_run(60);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_RUNNING);
    world_release();
}

/* A source that neither answers nor fails: that is said, nothing is decided, and its late answer is taken. */
static void test_source_is_silent(void **state)
{
    struct world w;
    struct engine_status st;

    (void)state;
    begin_many(&w, 2, 0);
    w.n_script = 0;
    world_run(70);
    int passes = w.passes;
    w.source_silent = true;
    world_run(400);
    engine_status(w.engine, &st);
    assert_int_equal(st.source, SOURCE_LOST);
    assert_non_null(strstr(st.source_error, "has not answered"));
    assert_int_equal(w.passes, passes);
    w.source_silent = false;
    world_run(70);
    engine_status(w.engine, &st);
    assert_int_equal(st.source, SOURCE_UP);
    assert_true(w.passes > passes);
    world_release();
}

static void test_source_lost_and_back(void **state)
{
    struct world w;
    struct engine_status st;
    uint64_t ticket;
    uint64_t pass;
    struct err err;

    (void)state;
    begin_many(&w, 2, 0);
    w.n_script = 0;
    world_run(70);
    int passes = w.passes;
    w.source_down = true;
    world_run(100);
    engine_status(w.engine, &st);
    assert_int_equal(st.source, SOURCE_LOST);
    assert_true(st.source_since > WORLD_START + 70);
    assert_non_null(st.source_error);
    assert_int_equal(w.passes, passes); /* nothing is decided on old data */
    int asks = w.n_asks;
    world_run(600);
    assert_in_range(w.n_asks - asks, 9, 20);                         /* asked again, with growing pauses */
    assert_int_equal(engine_run(w.engine, w.now, &ticket, &err), 0); /* an admin's wish does not wait */
    world_second();
    assert_int_equal(engine_run_result(w.engine, ticket, &pass, &err), -ECONNREFUSED);
    w.source_down = false;
    world_run(70);
    engine_status(w.engine, &st);
    assert_int_equal(st.source, SOURCE_UP);
    assert_true(w.passes > passes);
    assert_int_equal(w_count_events("source_lost"), 1);
    assert_int_equal(w_count_events("source_back"), 1);
    world_release();
}

/* Directories lock an account after a few wrong passwords in a row: vCenter's after five in three minutes. */
static void test_refused_login_is_not_hammered(void **state)
{
    struct world w;

    (void)state;
    begin_many(&w, 2, 0);
    w.source_down = true;
    w.source_code = -EACCES;
    world_run(175);
    assert_in_range(w.n_asks, 2, 4);
    w.source_down = false;
    world_run(70); /* and it comes back by itself */
    assert_true(w.passes > 0);
    world_release();
}

/* Nothing begins when its beginning cannot be stored; what runs is followed all the same. */
static void test_store_breaks(void **state)
{
    struct world w;
    struct engine_status st;

    (void)state;
    begin_many(&w, 8, 0);
    w.n_script = 1;
    w.store_broken = true;
    world_run(30);
    assert_int_equal(w.n_tasks, 0);
    engine_status(w.engine, &st);
    assert_non_null(st.store_error);
    w.store_broken = false;
    world_run(20);
    engine_status(w.engine, &st);
    assert_null(st.store_error);
    assert_int_equal(w.vms[0].host, 1);
    w.script[0] = (struct world_move){.vm = 1, .to = 2, .priority = 2};
    world_run(62);
    w.store_broken = true; /* while it runs */
    world_run(20);
    assert_int_equal(w.vms[1].host, 2);
    w.store_broken = false;
    world_run(20);
    assert_int_equal(w.actions[1].state, ACTION_DONE);
    world_release();
}

/* A store that does not answer costs a wait each time, in which nobody else is served. */
static void test_a_broken_store_is_left_alone(void **state)
{
    struct world w;
    uint64_t ticket;

    (void)state;
    begin_many(&w, 8, 0);
    w.settings.policy.interval_s = 5;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(30);
    w.store_broken = true;
    for (int s = 0; s < 120; s++) {
        (void)engine_run(w.engine, w.now, &ticket, NULL);
        world_second();
    }
    assert_in_range(w.n_refused, 5, 20);
    w.store_broken = false;
    world_run(10);
    assert_int_equal(w.actions[w.n_actions - 1].state, world_state(w.n_actions));
    struct engine_status st;

    engine_status(w.engine, &st);
    assert_null(st.store_error);
    world_release();
}

/* As the engine has it, stored or not. */
static const struct action_record *held(struct world *w, struct arena *a, uint64_t id)
{
    const struct action_record **list;
    size_t n = engine_actions(w->engine, a, &list);

    for (size_t i = 0; i < n; i++) {
        if (list[i]->id == id)
            return list[i];
    }
    return NULL;
}

/* A plan grows old from the moment it was approved, also where a beginning could not be stored. */
static void test_a_failed_store_approves_nothing_anew(void **state)
{
    struct world w;
    struct arena a = {0};

    (void)state;
    begin_many(&w, 8, 0);
    w.settings.policy.automation = AUTOMATION_MANUAL;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(5);
    assert_int_equal(world_apply(1), 0); /* stored, and check is on its way */
    instant_s approved = w.now;

    w.store_broken = true;
    world_run(3);
    assert_int_equal(w.n_tasks, 0);
    assert_int_equal(held(&w, &a, 1)->state, ACTION_APPROVED);
    assert_int_equal(held(&w, &a, 1)->approved, approved);
    arena_release(&a);
    world_release();
}

/* What a restart would not know of is not said to be done. */
static void test_what_is_not_stored_is_said(void **state)
{
    struct world w;
    const uint64_t id = 1;
    uint64_t begun = 0;
    struct err err = {0};

    (void)state;
    begin_many(&w, 8, 0);
    w.settings.policy.automation = AUTOMATION_MANUAL;
    engine_configure(w.engine, &w.settings, w.now);
    w.check_code = -EBUSY;
    world_run(5);
    assert_int_equal(world_apply(id), 0);
    world_run(2);
    assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &begun, NULL, &err), 0);
    w.store_broken = true;
    assert_int_equal(engine_reject(w.engine, &id, 1, false, 0, "tester", w.now, NULL, &err), -EIO);
    assert_non_null(strstr(err.text, "restart"));
    assert_int_equal(engine_maintenance(w.engine, "h0", false, "tester", w.now, &begun, NULL, &err), -EIO);
    assert_non_null(strstr(err.text, "restart"));
    assert_int_equal(world_apply(2), -EIO);
    w.store_broken = false;
    world_run(30);
    assert_int_equal(w.starts[0], 0);
    assert_int_equal(world_state(1), ACTION_REJECTED);
    world_release();
}

static void test_run_waits_for_its_pass(void **state)
{
    struct world w;
    uint64_t ticket;
    uint64_t pass = 0;
    struct err err;

    (void)state;
    begin_many(&w, 2, 0);
    w.n_script = 0;
    world_run(20);
    assert_int_equal(engine_run(w.engine, w.now, &ticket, &err), 0);
    assert_int_equal(engine_run_result(w.engine, ticket, &pass, &err), -EINPROGRESS);
    world_second();
    assert_int_equal(engine_run_result(w.engine, ticket, &pass, &err), 0);
    assert_int_equal(pass, 2);
    world_release();
}

/* However slowly it gets on, it is not begun anew; when it stands still, it is. */
static void test_slow_is_not_hanging(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 4);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.hottest = 1.2;
    w.tasks_stick = true;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w.n_script = 1;
    world_begin_engine();
    for (w.percent = 1; w.percent < 10; w.percent++)
        world_run(250);
    assert_int_equal(world_action(1)->percent, 9);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_false(world_action(1)->cancel_asked);
    world_run(400);
    assert_true(world_action(1)->cancel_asked);
    world_release();
}

/* Nor is a source that was not asked for long: the service was down, or the clock has been set forward. */
static void test_slow_while_nobody_asks(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 3, 4);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.hottest = 1.2;
    w.tasks_stick = true;
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w.n_script = 1;
    world_begin_engine();
    w.percent = 40;
    world_run(100);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    w.now += 7200;
    world_restart();
    world_run(250);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_false(world_action(1)->cancel_asked);
    world_run(150); /* it stands still */
    assert_true(world_action(1)->cancel_asked);
    world_release();
}

static void test_settings_change_while_it_runs(void **state)
{
    struct world w;

    (void)state;
    begin_many(&w, 2, 0);
    w.n_script = 1;
    w.settings.policy.automation = AUTOMATION_MANUAL;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(100);
    assert_int_equal(w.n_tasks, 0);
    w.settings.policy.automation = AUTOMATION_FULL;
    w.settings.policy.interval_s = 20;
    engine_configure(w.engine, &w.settings, w.now);
    int passes = w.passes;
    world_run(100);
    assert_int_equal(w.vms[0].host, 1);
    assert_in_range(w.passes - passes, 4, 6);
    world_release();
}

/* Whoever asks something all the time does not put off what is due. */
static void test_wakeup_is_not_put_off(void **state)
{
    struct world w;
    instant_s now;

    (void)state;
    begin_many(&w, 2, 0);
    w.n_script = 1;
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    for (now = w.now; engine_wakeup(w.engine, now) > now; now++)
        assert_true(now - w.now < 5);
    world_release();
}

/* ---- a day of everything at once ------------------------------------------------------------- */

#define STORM_SEEDS 30
#define STORM_S 3000

static void storm_second(struct world *w, struct rng *r)
{
    double p = rng_unit(r);

    w->tasks_fail = rng_unit(r) < 0.1;
    w->tasks_stick = rng_unit(r) < 0.02;
    if (p < 0.02)
        w->check_code = -ETIMEDOUT;
    else if (p < 0.03)
        w->start_code = -EIO;
    else if (p < 0.05)
        w->start_lost = true;
    else if (p < 0.06)
        w->source_down = !w->source_down;
    else if (p < 0.07)
        w->store_broken = !w->store_broken;
    else if (p < 0.08)
        w->crash_in = 1 + (int)rng_below(r, 10);
    else if (p < 0.085)
        w->vms[rng_below(r, (uint32_t)w->n_vms)].host = (int)rng_below(r, 4); /* somebody else's hand */
    else if (p < 0.09)
        w->host_state[3] = w->host_state[3] == HOST_ON ? HOST_DISCONNECTED : HOST_ON;
    if (w->dead) {
        w->jobs_survive = rng_unit(r) < 0.5;
        world_restart();
    }
}

/* One task a VM, and no more than the limits say. A task that was begun by an earlier life and whose answer
 * was lost is adopted; until it is, the engine cannot know of it, so those count as the peer's own. */
static void storm_invariants(const struct world *w)
{
    for (int vm = 0; vm < w->n_vms; vm++) {
        int running = 0;

        for (int i = 0; i < w->n_tasks; i++)
            running += w->tasks[i].state == TASK_RUNNING && w->tasks[i].vm == vm;
        assert_true(running <= 1);
    }
    for (int h = 0; h < 4; h++)
        assert_true(world_running(h) <= 2);
    for (uint64_t i = 0; i < w->n_actions; i++)
        assert_int_equal(w->actions[i].id, i + 1);
}

static void test_storm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(STORM_SEEDS); seed++) {
        struct world w;
        struct rng r = {seed};

        world_init(&w, 4, 16);
        w.settings.policy.automation = AUTOMATION_FULL;
        w.settings.policy.migrations_per_host = 2;
        w.settings.policy.cool_down_s = 60;
        w.settings.policy.interval_s = 20;
        w.hottest = 1.2;
        w.greedy = true;
        w.task_s = 8;
        world_begin_engine();
        for (int s = 0; s < STORM_S && w.n_tasks < WORLD_TASKS - 20 && w.n_actions < WORLD_ACTIONS - 20;
             s++) {
            storm_second(&w, &r);
            if (!w.dead)
                world_second();
            storm_invariants(&w);
        }
        /* and when it is over, everything comes to rest */
        if (w.dead)
            world_restart();
        w.crash_in = w.check_code = w.start_code = 0;
        w.source_down = w.store_broken = w.tasks_fail = w.tasks_stick = w.start_lost = w.greedy = false;
        w.host_state[3] = HOST_ON;
        world_run(1000);
        for (uint64_t i = 0; i < w.n_actions; i++) {
            if (w.actions[i].ended == 0)
                print_message("seed %llu: action %llu is still %s\n", (unsigned long long)seed,
                              (unsigned long long)i + 1, action_state_name(w.actions[i].state));
            assert_true(w.actions[i].ended != 0);
        }
        world_release();
    }
}

/* Where nobody reads passes again (a simulation), they are not written out; and it is looked as often as its
 * samples come, and no more. */
static void test_no_more_than_is_wanted(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 2, 2);
    w.settings.passes_kept = 0; /* the store checks what it is given */
    w.settings.policy.interval_s = 300;
    w.settings.look_s = 300;
    world_begin_engine();
    world_run(1500);
    assert_int_equal(w.n_passes, 5);
    assert_true(w.n_asks <= 6);
    w.settings.look_s = 0;
    engine_configure(w.engine, &w.settings, w.now);
    w.n_asks = 0;
    world_run(600);
    assert_true(w.n_asks >= 9);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concurrency_limits),
        cmocka_unit_test(test_urgent_ones_first),
        cmocka_unit_test(test_later_plans_wait_for_room),
        cmocka_unit_test(test_source_is_silent),
        cmocka_unit_test(test_source_lost_and_back),
        cmocka_unit_test(test_refused_login_is_not_hammered),
        cmocka_unit_test(test_store_breaks),
        cmocka_unit_test(test_a_failed_store_approves_nothing_anew),
        cmocka_unit_test(test_what_is_not_stored_is_said),
        cmocka_unit_test(test_a_broken_store_is_left_alone),
        cmocka_unit_test(test_run_waits_for_its_pass),
        cmocka_unit_test(test_slow_is_not_hanging),
        cmocka_unit_test(test_slow_while_nobody_asks),
        cmocka_unit_test(test_settings_change_while_it_runs),
        cmocka_unit_test(test_wakeup_is_not_put_off),
        cmocka_unit_test(test_no_more_than_is_wanted),
        cmocka_unit_test(test_storm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
