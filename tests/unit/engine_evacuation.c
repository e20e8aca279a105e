/* Mandatory moves that failed: those whose cause may pass are tried again soon, and a manager that begins
 * nothing is not mistaken for hosts that fail. */
#include "engine_world.h"

#include "engine/actions/action.h"
#include "engine/retry.h"

#define COOL_DOWN_S 300
#define PAUSE_S 900
#define IGNORED_S 20 /* after so long the peer says that it did not begin a move */
#define SLACK_S 12   /* of an attempt: polls, and the inventory before the pass */

static uint32_t begins; /* bits of the VMs whose moves the manager begins, as it should */

/* The moves of other VMs are accepted, stay queued, and end as not begun. Those that it begins end sooner. */
static bool manager(const struct job *o, struct job_result *ret)
{
    int vm = o->kind == JOB_POLL ? w_vm(o->operation.vm) : -1;

    if (vm < 0)
        return false;
    const bool begun = (begins & 1u << vm) != 0;

    for (int i = 0; i < W->n_tasks; i++) {
        struct world_task *t = &W->tasks[i];

        if (strcmp(t->name, o->task) != 0)
            continue;
        if (begun) {
            t->ends = t->ends < W->now + 2 ? t->ends : W->now + 2;
            return false;
        }
        t->stuck = true;
        ret->progress.percent = -1;
        ret->progress.state = W->now < t->ends ? TASK_QUEUED : TASK_FAILED;
        if (ret->progress.state == TASK_FAILED) {
            (void)err_set(&ret->progress.why, -EAGAIN, "accepted and not begun");
            t->state = TASK_FAILED;
        }
    }
    return true;
}

/* So many VMs must leave h0, each for another host, or all for h1; an interval is longer than the wait. */
static void begin(struct world *w, int moves, bool to_one, unsigned priority)
{
    world_init(w, 6, 12);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.interval_s = 600;
    w->settings.policy.migrations_per_host = 8;
    w->settings.policy.cool_down_s = COOL_DOWN_S;
    w->settings.policy.avoid = (struct avoid_policy){
        .pause_s = PAUSE_S, .pause_max_s = 4 * PAUSE_S, .host_failures = 3, .cluster_failures = 0};
    w->hottest = 1.2;
    w->host_rate_mb_s = 10000; /* the moves do not wait for each other */
    w->dirty_mb_s = 1;
    if (priority == PRIORITY_MANDATORY)
        w->host_state[0] = HOST_ENTERING_MAINTENANCE;
    w->task_s = IGNORED_S;
    for (int i = 0; i < moves; i++)
        w->script[i] = (struct world_move){.vm = i,
                                           .to = to_one ? 1 : 1 + i,
                                           .priority = priority,
                                           .evacuates = priority == PRIORITY_MANDATORY};
    w->n_script = moves;
}

static void begin_ignored(struct world *w, int moves, bool to_one, uint32_t begun)
{
    begin(w, moves, to_one, PRIORITY_MANDATORY);
    begins = begun;
    w->actuators = manager;
    world_begin_engine();
}

static uint32_t avoided(void)
{
    uint64_t ticket;

    assert_int_equal(engine_run(W->engine, W->now, &ticket, NULL), 0);
    world_run(2);
    return engine_snapshot(W->engine)->n_avoid;
}

/* How long it takes from the end of the first attempt to the second, and from its end to the third. */
static void waits(instant_s ret[2])
{
    instant_s ended = 0;

    for (int n = 1; n < 3; n++) {
        for (int i = 0; world_state((uint64_t)n) != ACTION_FAILED; i++) {
            assert_true(i < 4 * PAUSE_S);
            world_run(1);
        }
        ended = W->now;
        for (int i = 0; W->starts[0] == n; i++) {
            assert_true(i < 4 * PAUSE_S);
            world_run(1);
        }
        ret[n - 1] = W->now - ended;
    }
}

static const struct {
    int code;
    unsigned priority;
    instant_s first_s, longest_s; /* of the first wait: the next pass may be an interval away */
} causes[] = {
    {-EAGAIN, PRIORITY_MANDATORY, RETRY_MOVE_S, RETRY_MOVE_S + SLACK_S},
    {-EBUSY, PRIORITY_MANDATORY, RETRY_MOVE_S, RETRY_MOVE_S + SLACK_S},
    {-ETIMEDOUT, PRIORITY_MANDATORY, RETRY_MOVE_S, RETRY_MOVE_S + SLACK_S},
    {-ECONNRESET, PRIORITY_MANDATORY, RETRY_MOVE_S, RETRY_MOVE_S + SLACK_S},
    {-EREMOTEIO, PRIORITY_MANDATORY, PAUSE_S, PAUSE_S + 600},      /* it stays */
    {-EPERM, PRIORITY_MANDATORY, PAUSE_S, PAUSE_S + 600},          /* likewise */
    {-ECANCELED, PRIORITY_MANDATORY, COOL_DOWN_S, 600 + SLACK_S},  /* by a person */
    {-EAGAIN, PRIORITY_MANDATORY + 2, COOL_DOWN_S, 600 + SLACK_S}, /* nobody waits for it */
    {-EBUSY, PRIORITY_MANDATORY + 2, COOL_DOWN_S, 600 + SLACK_S},
};

static void test_how_soon(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(causes); i++) {
        struct world w;
        instant_s s[2];

        print_message("  %s, priority %u\n", strerror(-causes[i].code), causes[i].priority);
        begin(&w, 1, true, causes[i].priority);
        w.tasks_fail = true;
        w.task_error = causes[i].code;
        world_begin_engine();
        waits(s);
        assert_in_range(s[0], causes[i].first_s - 1, causes[i].longest_s);
        assert_true(s[1] >= 2 * causes[i].first_s - 1);
        if (causes[i].first_s == RETRY_MOVE_S)
            assert_true(s[1] <= 2 * RETRY_MOVE_S + SLACK_S);
        world_release();
    }
}

/* Four guests to four hosts, or all to one, and the manager begins none: no host and no pair is avoided. */
static void test_silent_manager_blames_no_host(void **state)
{
    (void)state;
    for (int to_one = 0; to_one < 2; to_one++) {
        struct world w;

        begin_ignored(&w, 4, to_one, 0);
        world_run(IGNORED_S + SLACK_S);
        for (uint64_t i = 1; i <= 4; i++)
            assert_int_equal(world_state(i), ACTION_FAILED);
        assert_int_equal(avoided(), 0);
        begins = UINT32_MAX; /* it is back */
        world_run(RETRY_MOVE_S + IGNORED_S + 2 * SLACK_S);
        for (int i = 0; i < 4; i++)
            assert_int_equal(w.vms[i].host, to_one ? 1 : 1 + i);
        world_release();
    }
}

/* The manager begins the move of vm04, and not those of the others, all to the same host: that is the host.
 */
static void test_working_manager_blames_the_host(void **state)
{
    struct world w;

    (void)state;
    begin_ignored(&w, 5, true, 1u << 4);
    w.script[4].to = 2;
    world_run(IGNORED_S + SLACK_S);
    assert_int_equal(w.vms[4].host, 2);
    assert_int_equal(avoided(), 5); /* four pairs, and the host */
    world_run(PAUSE_S / 2);
    assert_int_equal(avoided(), 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(w.starts[i], 1);
    world_release();
}

/* One alone fails while another gets on: its only destination is tried again as soon as otherwise. */
static void test_only_candidate_is_tried_soon(void **state)
{
    struct world w;
    instant_s s[2];

    (void)state;
    begin_ignored(&w, 2, false, 1u << 1);
    world_run(IGNORED_S + SLACK_S);
    assert_int_equal(avoided(), 1); /* the pair */
    assert_int_equal(w.starts[0], 1);
    world_run(RETRY_MOVE_S);
    assert_int_equal(w.starts[0], 2);
    w.n_script = 1;
    world_release();
    begin_ignored(&w, 1, false, 0);
    waits(s);
    assert_in_range(s[0], RETRY_MOVE_S - 1, RETRY_MOVE_S + SLACK_S);
    world_release();
}

/* What a restart reads of a failed move says how soon it is tried again. */
static void test_over_a_restart(void **state)
{
    struct world w;

    (void)state;
    begin_ignored(&w, 1, false, 0);
    world_run(IGNORED_S + SLACK_S);
    assert_int_equal(world_state(1), ACTION_FAILED);
    world_restart();
    world_run(RETRY_MOVE_S + SLACK_S);
    assert_int_equal(w.starts[0], 2);
    world_release();
}

/* The one of this VM; NULL: nothing is said of it. */
static const struct engine_left_vm *left(struct arena *a, const char *vm)
{
    struct engine_left_vm *list = NULL;
    size_t n = engine_left_vms(W->engine, W->now, a, &list);

    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].vm, vm) == 0)
            return &list[i];
    return NULL;
}

/* All that are to leave are named: what is under way, what failed, and until when it waits; those without a
 * move too. */
static void test_says_what_it_waits_for(void **state)
{
    struct world w;
    struct arena a = {0};

    (void)state;
    begin_ignored(&w, 2, false, 1u << 1);
    assert_null(left(&a, "vm00")); /* before the first inventory */
    world_run(IGNORED_S / 2);
    assert_null(left(&a, "vm01"));
    assert_int_equal(left(&a, "vm00")->state, ACTION_RUNNING);
    assert_int_equal(left(&a, "vm00")->until, 0);
    assert_int_equal(left(&a, "vm02")->state, action_state_count);
    assert_null(left(&a, "vm02")->why);
    world_run(IGNORED_S / 2 + SLACK_S);
    const struct engine_left_vm *x = left(&a, "vm00");

    assert_int_equal(x->state, ACTION_FAILED);
    assert_string_equal(x->host, "h0");
    assert_string_equal(x->why, "accepted and not begun");
    assert_in_range(x->until, world_action(1)->ended + RETRY_MOVE_S, w.now + RETRY_MOVE_S);
    assert_int_equal(avoided(), 1); /* the pass recommends the move anew, which nobody approves yet */
    assert_int_equal(left(&a, "vm00")->state, ACTION_FAILED);
    w.host_state[0] = HOST_ON;
    (void)avoided();
    assert_null(left(&a, "vm00"));
    arena_release(&a);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_soon),
        cmocka_unit_test(test_silent_manager_blames_no_host),
        cmocka_unit_test(test_working_manager_blames_the_host),
        cmocka_unit_test(test_only_candidate_is_tried_soon),
        cmocka_unit_test(test_over_a_restart),
        cmocka_unit_test(test_says_what_it_waits_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
