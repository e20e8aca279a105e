/* Hosts whose task continues with the next power method under a new task name: what the engine keeps of
 * it, when it reports that the host is proven empty, and a host that is lost meanwhile. */
#include "engine_world.h"

#include <stdlib.h>

#define LINGERS_S 300 /* as in the engine */

/* The ways to put h2 down: asked softly, which comes to nothing; asked once more, at which it goes. */
enum { STEP_ASK, STEP_WAIT, STEP_ASK_AGAIN, STEP_END };

static struct {
    int asked[STEP_END + 1];      /* how often each step was polled */
    int effects;                  /* something was asked of the host */
    bool stays;                   /* it hears the second one, and does not go */
    int fails_at;                 /* the step that ends the task as failed; 0: none */
    int poll_code;                /* nothing can be learned of it */
    int not_proven;               /* polls that did not say that the host is empty */
    instant_s waits_until;        /* STEP_WAIT does not end before this */
    enum host_state while_waits;  /* what the manager sees of the host from then on */
    enum action_state last_state; /* in the store, when it was last polled */
} P;

/* As the peer knows it: no VM runs on h2, none comes or goes. */
static void assert_really_empty(void)
{
    for (int i = 0; i < W->n_vms; i++)
        assert_true(W->vms[i].host != 2 || W->vms[i].off);
    assert_int_equal(world_running(2), 0);
}

static void ask_host(const struct operation *q)
{
    assert_true(q->power.proven_empty && !q->only_adopt);
    assert_really_empty();
    P.effects++;
}

static void poll_step(const struct job *o, struct task_progress *ret)
{
    const struct operation *q = &o->operation;
    int step = (int)strtol(o->task + 2, NULL, 10);
    bool proven = q->power.proven_empty && !q->only_adopt;

    /* whoever dies now must not lose the name that is polled */
    assert_string_equal(W->actions[o->id - 1].task, o->task);
    P.last_state = W->actions[o->id - 1].state;
    P.asked[step]++;
    P.not_proven += !q->power.proven_empty;
    if (P.fails_at == step && step > 0 && W->now >= P.waits_until) {
        ret->state = TASK_FAILED;
        (void)err_set(&ret->why, -ETIMEDOUT, "the host is still on");
        return;
    }
    if (step == STEP_WAIT && P.while_waits != HOST_ON)
        W->host_state[2] = P.while_waits;
    if (step == STEP_END) {
        ret->state = TASK_SUCCEEDED;
        return;
    }
    if ((step != STEP_WAIT && !proven) || (step == STEP_WAIT && W->now < P.waits_until))
        return;
    if (step != STEP_WAIT)
        ask_host(q);
    if (step == STEP_WAIT)
        (void)err_set(&ret->why, -ETIMEDOUT, "the first way came to nothing");
    if (step == STEP_ASK_AGAIN && !P.stays && W->host_state[2] != HOST_STANDBY) {
        W->host_state[2] = HOST_STANDBY;
        W->downs[2]++;
    }
    (void)snprintf(ret->task, sizeof ret->task, "m %d", step + 1);
}

static bool many_steps(const struct job *o, struct job_result *ret)
{
    if (o->operation.kind != OPERATION_STANDBY)
        return false;
    if (o->kind == JOB_START && o->operation.only_adopt) {
        ret->code = err_set(&ret->err, -ESRCH, "it was not requested");
    } else if (o->kind == JOB_START) {
        (void)snprintf(ret->task, sizeof ret->task, "m %d", STEP_ASK);
    } else if (o->kind == JOB_CANCEL) {
        ret->code = err_set(&ret->err, -ENOTSUP, "cannot be stopped");
    } else if (o->kind == JOB_POLL && (ret->code = P.poll_code) == 0) {
        ret->progress = (struct task_progress){.state = TASK_RUNNING, .percent = -1};
        poll_step(o, &ret->progress);
    }
    return o->kind != JOB_CHECK;
}

static void begin(struct world *w)
{
    memset(&P, 0, sizeof P);
    P.while_waits = HOST_ON;
    world_init_standby(w);
    w->actuators = many_steps;
    world_begin_engine();
}

static const struct host_facts *fact(int host)
{
    char id[16];

    w_host_id(host, id);
    const struct snapshot *s = engine_snapshot(W->engine);

    return &s->hosts[snapshot_find_host(s, id)].is;
}

static void run_until_polled(int step)
{
    for (int s = 0; s < 200 && P.asked[step] == 0; s++)
        world_second();
    assert_true(P.asked[step] > 0);
    assert_int_equal(world_state(3), ACTION_RUNNING);
}

/* ---- names ------------------------------------------------------------------------------------ */

static void test_renamed_and_stored(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(120);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(P.effects, 2);
    for (int i = STEP_ASK; i <= STEP_END; i++)
        assert_int_equal(P.asked[i], 1);
    assert_string_equal(world_action(3)->task, "m 3");
    world_release();
    begin(&w); /* what came to nothing is said while the rest is tried */
    P.stays = true;
    run_until_polled(STEP_ASK_AGAIN);
    assert_non_null(strstr(world_action(3)->why, "the first way came to nothing"));
    world_release();
}

/* At any call: the next process goes on where the last one was, and makes one call once more at the most. */
static void test_killed_between_steps(void **state)
{
    (void)state;
    for (int mode = 0; mode < CRASH_MODES; mode++) {
        for (int at = 1; at <= 90; at++) {
            struct world w;

            begin(&w);
            w.hides = at % 2;
            (void)world_killed(mode, at, 90);
            world_run(400);
            assert_int_equal(w.downs[2], 1);
            assert_true(P.effects == 2 || P.effects == 3);
            for (uint64_t i = 0; i < w.n_actions; i++)
                assert_true(w.actions[i].ended != 0);
            assert_int_equal(fact(2)->state, HOST_STANDBY);
            assert_true(w.n_known > 0);
            world_release();
        }
    }
}

/* ---- proven empty ------------------------------------------------------------------------------ */

/* What makes it unproven while the task waits between two ways, and whether that passes. */
static const struct {
    const char *name;
    bool vm_appears, vm_leaves, source_silent, paused, below_minimum;
    bool goes; /* it is asked once more, in the end */
} unproven_cases[] = {
    {.name = "nothing happens", .goes = true},
    {.name = "a VM appears", .vm_appears = true},
    {.name = "a VM appears and leaves", .vm_appears = true, .vm_leaves = true, .goes = true},
    {.name = "the source falls silent", .source_silent = true},
    {.name = "the service is paused", .paused = true},
    {.name = "too few would stay on", .below_minimum = true},
};

static void test_proven_before_each_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(unproven_cases); i++) {
        struct world w;

        print_message("  %s\n", unproven_cases[i].name);
        begin(&w);
        P.waits_until = WORLD_START + 200;
        run_until_polled(STEP_WAIT);
        assert_int_equal(P.effects, 1);
        w.n_script = 0;
        if (unproven_cases[i].vm_appears)
            w.vms[0].host = 2;
        w.source_silent = unproven_cases[i].source_silent;
        if (unproven_cases[i].paused)
            assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
        if (unproven_cases[i].below_minimum)
            w.host_state[3] = w.host_state[1] = HOST_MAINTENANCE;
        w.settings.policy.dpm.hosts_min = unproven_cases[i].below_minimum ? 2 : 1;
        engine_configure(w.engine, &w.settings, w.now);
        while (w.now < P.waits_until + 30)
            world_second();
        if (unproven_cases[i].vm_leaves) {
            assert_int_equal(P.effects, 1);
            w.vms[0].host = 0;
            world_run(70);
        }
        world_run(70);
        assert_int_equal(P.effects, unproven_cases[i].goes ? 2 : 1);
        assert_int_equal(w.downs[2], unproven_cases[i].goes);
        assert_int_equal(world_state(3), unproven_cases[i].goes ? ACTION_DONE : ACTION_RUNNING);
        world_release();
    }
}

/* ---- lost on its way down ---------------------------------------------------------------------- */

static void test_lost_while_it_goes_down(void **state)
{
    static const struct {
        const char *name;
        bool fails, comes_back;
    } cases[] = {
        {.name = "its task succeeds"},
        {.name = "its task fails", .fails = true},
        {.name = "its task fails, and it is back", .fails = true, .comes_back = true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        print_message("  %s\n", cases[i].name);
        begin(&w);
        w.hides = true; /* what sleeps is seen as lost for ever */
        P.waits_until = WORLD_START + 200;
        P.fails_at = cases[i].fails ? STEP_WAIT : 0;
        P.while_waits = HOST_DISCONNECTED;
        run_until_polled(STEP_WAIT);
        world_run(70);
        assert_int_equal(fact(2)->state, HOST_ENTERING_STANDBY); /* no alarm */
        if (cases[i].comes_back) {
            P.while_waits = HOST_ON;
            w.host_state[2] = HOST_ON;
        }
        w.n_script = 0;
        while (w.now < P.waits_until + 30)
            world_second();
        assert_int_equal(world_state(3), cases[i].fails ? ACTION_FAILED : ACTION_DONE);
        world_run(LINGERS_S + 70);
        /* never forgotten: it can be woken, and is listed among those that sleep because of us */
        assert_int_equal(fact(2)->state, cases[i].comes_back ? HOST_ON : HOST_STANDBY);
        struct arena a = {0};
        struct asleep *list;

        assert_int_equal(engine_asleep(w.engine, &a, &list), !cases[i].comes_back);
        assert_true(cases[i].comes_back || list[0].ours);
        arena_release(&a);
        world_restart();
        world_run(10);
        assert_int_equal(fact(2)->state, cases[i].comes_back ? HOST_ON : HOST_STANDBY);
        world_release();
    }
}

/* ---- one that does not go ---------------------------------------------------------------------- */

/* It says so, and is left alone for a while: it may only be slow. Then VMs may run there again. */
static void test_stays_on(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    P.waits_until = WORLD_START + 100;
    P.fails_at = STEP_WAIT;
    run_until_polled(STEP_WAIT);
    while (world_state(3) == ACTION_RUNNING)
        world_second();
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_non_null(strstr(world_action(3)->why, "still on"));
    P.fails_at = 0;
    world_run(LINGERS_S - 10);
    assert_int_equal(fact(2)->state, HOST_ENTERING_STANDBY);
    world_run(80);
    assert_int_equal(fact(2)->state, HOST_ON);
    assert_int_equal(P.effects, 1); /* not again at once */
    w.script[0] = (struct world_move){.vm = 0, .to = 2, .priority = 1};
    w.n_script = 1;
    w.vms[0].host = 0;
    world_run(120);
    assert_int_equal(w.vms[0].host, 2);
    world_release();
}

/* The clock is set back after that: the host is not left alone until it has caught up. */
static void test_stays_on_and_the_clock_is_set_back(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    P.waits_until = WORLD_START + 100;
    P.fails_at = STEP_WAIT;
    run_until_polled(STEP_WAIT);
    while (world_state(3) == ACTION_RUNNING)
        world_second();
    P.fails_at = 0;
    w.n_script = 0;
    w.now -= 7200;
    world_restart();
    world_run(LINGERS_S - 10);
    assert_int_equal(fact(2)->state, HOST_ENTERING_STANDBY);
    world_run(80);
    assert_int_equal(fact(2)->state, HOST_ON);
    world_release();
}

/* A host whose power-off was refused at once was told nothing: it stays on, and is lost when it is lost;
 * after a restart, too. */
static void test_refused(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct world w;

        world_init_standby(&w);
        world_begin_engine();
        for (int i = 0; i < 200 && world_state(3) != ACTION_FAILED; i++, world_second())
            w.start_code = world_state(1) >= ACTION_RUNNING && world_state(2) >= ACTION_RUNNING ? -EPERM : 0;
        assert_int_equal(world_state(3), ACTION_FAILED);
        w.n_script = 0;
        if (restarted)
            world_restart();
        world_run(70);
        assert_int_equal(fact(2)->state, HOST_ON);
        w.host_state[2] = HOST_DISCONNECTED;
        world_run(70);
        assert_int_equal(fact(2)->state, HOST_DISCONNECTED);
        world_release();
    }
}

/* It takes longer to shut down than anybody waits: not lost, but asleep, and it can be woken. One that is
 * lost long after, or that runs a VM by then, is lost. */
static void test_goes_down_late(void **state)
{
    static const struct {
        const char *name;
        instant_s after_s;
        bool restarted, with_vm;
        enum host_state is;
    } cases[] = {
        {"soon", 400, false, false, HOST_STANDBY},
        {"after a restart", 400, true, false, HOST_STANDBY},
        {"much later", 4000, false, false, HOST_DISCONNECTED},
        {"with a VM on it", 400, false, true, HOST_DISCONNECTED},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;
        struct arena a = {0};
        struct asleep *list;

        print_message("  %s\n", cases[i].name);
        begin(&w);
        P.waits_until = WORLD_START + 100;
        P.fails_at = STEP_WAIT;
        run_until_polled(STEP_WAIT);
        while (world_state(3) == ACTION_RUNNING)
            world_second();
        assert_int_equal(world_state(3), ACTION_FAILED);
        P.fails_at = 0;
        w.n_script = 0;
        world_run(cases[i].after_s);
        assert_int_equal(fact(2)->state, HOST_ON);
        if (cases[i].with_vm)
            w.vms[0].host = 2;
        w.host_state[2] = HOST_DISCONNECTED;
        if (cases[i].restarted)
            world_restart();
        world_run(70);
        assert_int_equal(fact(2)->state, cases[i].is);
        assert_int_equal(engine_asleep(w.engine, &a, &list), cases[i].is == HOST_STANDBY);
        assert_true(cases[i].is != HOST_STANDBY || list[0].ours);
        world_restart();
        world_run(4000); /* and it stays so */
        assert_int_equal(fact(2)->state, cases[i].is);
        arena_release(&a);
        world_release();
    }
}

/* The host said yes twice, its task says that it is over, and it is on: an end all the same. */
static void test_said_off_and_on(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    P.stays = true;
    while (w.now < WORLD_START + 2000 && world_state(3) != ACTION_FAILED)
        world_second();
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_int_equal(P.effects, 2);
    w.n_script = 0;
    world_run(LINGERS_S + 70);
    assert_int_equal(fact(2)->state, HOST_ON);
    world_release();
}

/* It goes when nobody waits for it any more, and its manager only sees that it has lost it: it is not
 * forgotten, also by the next process. One that has come back since, and is lost then, is no doing of ours.
 */
static void test_goes_late(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct world w;
        uint64_t up[WAKE_ACTIONS] = {0};

        begin(&w);
        w.hides = true;
        P.waits_until = WORLD_START + 100;
        P.fails_at = STEP_WAIT;
        run_until_polled(STEP_WAIT);
        while (world_state(3) == ACTION_RUNNING)
            world_second();
        w.n_script = 0;
        world_run(LINGERS_S + 200);
        assert_int_equal(fact(2)->state, HOST_ON);
        w.host_state[2] = HOST_STANDBY;
        if (restarted)
            world_restart();
        world_run(70);
        assert_int_equal(fact(2)->state, HOST_STANDBY);
        world_run(2 * 3600); /* longer than the action is at hand */
        assert_int_equal(fact(2)->state, HOST_STANDBY);
        assert_int_equal(engine_wake(w.engine, "h2", false, "tester", w.now, up, NULL), 0);
        world_run(120);
        assert_int_equal(world_state(up[0]), ACTION_DONE);
        assert_int_equal(fact(2)->state, HOST_ON);
        w.host_state[2] = HOST_DISCONNECTED;
        world_run(70);
        assert_int_equal(fact(2)->state, HOST_DISCONNECTED);
        world_release();
    }
}

/* The first half of a proof ends as failed, because the host was lost on its way: then the other half is what
 * brings it back. */
static void test_proof_that_loses_its_host(void **state)
{
    static const struct {
        const char *name;
        enum host_state seen;
        enum action_state ends;
    } cases[] = {
        {"it is down all the same", HOST_STANDBY, ACTION_DONE},
        {"it is still on", HOST_ON, ACTION_CANCELLED},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;
        uint64_t ids[WAKE_ACTIONS] = {0};

        print_message("  %s\n", cases[i].name);
        begin(&w);
        w.hides = true;
        w.n_script = 0;
        w.vms[2].host = w.vms[3].host = 0;
        P.waits_until = WORLD_START + 100;
        P.fails_at = STEP_WAIT;
        P.while_waits = cases[i].seen;
        world_run(5);
        assert_int_equal(engine_wake(w.engine, "h2", true, "tester", w.now, ids, NULL), 0);
        world_run(600);
        assert_int_equal(world_state(ids[0]), ACTION_FAILED);
        assert_int_equal(world_state(ids[1]), cases[i].ends);
        assert_int_equal(w.wakes[2], cases[i].seen == HOST_STANDBY);
        assert_int_equal(fact(2)->state, HOST_ON);
        world_release();
    }
}

/* Nothing can be learned of its task any more: the host is not held back for ever. */
static void test_task_cannot_be_asked(void **state)
{
    (void)state;
    for (int down = 0; down < 2; down++) {
        struct world w;

        begin(&w);
        run_until_polled(STEP_ASK);
        P.poll_code = -EINVAL;
        w.n_script = 0;
        w.host_state[2] = down ? HOST_STANDBY : HOST_ON;
        world_run(2400);
        assert_int_equal(world_state(3), down ? ACTION_DONE : ACTION_FAILED);
        assert_int_equal(fact(2)->state, down ? HOST_STANDBY : HOST_ON);
        world_release();
    }
}

/* ---- power is lost while it is emptied --------------------------------------------------------- */

static void test_lost_while_it_is_emptied(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.task_s = 30;
    while (world_running(2) < 1)
        world_second();
    w.host_state[2] = HOST_DISCONNECTED;
    w.n_script = 0;
    for (int i = 0; i < w.n_tasks; i++)
        w.tasks[i].state = TASK_FAILED;
    world_run(200);
    assert_int_equal(P.effects, 0);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(fact(2)->state, HOST_DISCONNECTED); /* that is an alarm, and no standby */
    w.host_state[2] = HOST_ON;
    world_run(70);
    assert_int_equal(fact(2)->state, HOST_ON);
    assert_int_equal(w.downs[2], 0);
    world_release();
}

/* ---- ways --------------------------------------------------------------------------------------- */

static void test_ways(void **state)
{
    static const struct host_power_method ways[] = {
        {.name = "h0", .wakes = WAKE_IPMI, .sleeps = WAKE_IPMI},
        {.name = "h1", .wakes = WAKE_WOL},                               /* nobody shuts it down */
        {.name = "h2", .wakes = 0, .sleeps = WAKE_IPMI},                 /* nobody wakes it */
        {.name = "same", .wakes = WAKE_REDFISH, .sleeps = WAKE_REDFISH}, /* all are called that */
    };
    struct world w;
    uint64_t id;

    (void)state;
    begin(&w);
    w.n_script = 0;
    w.host_name = "same";
    w.settings.operations &= ~(1u << OPERATION_WAKE | 1u << OPERATION_STANDBY);
    w.settings.ways = ways;
    w.settings.n_ways = ELEMENTS(ways);
    engine_configure(w.engine, &w.settings, w.now);
    world_run(70);
    assert_int_equal(fact(0)->dpm, AUTOMATION_INHERIT);
    assert_int_equal(fact(0)->wake_methods, WAKE_IPMI);
    assert_int_equal(fact(1)->dpm, AUTOMATION_DISABLED);
    assert_int_equal(fact(1)->wake_methods, WAKE_WOL);
    assert_int_equal(fact(2)->dpm, AUTOMATION_DISABLED);
    assert_int_equal(fact(3)->dpm, AUTOMATION_DISABLED); /* a name that several have is nobody's */
    assert_int_equal(fact(3)->wake_methods, 0);
    assert_true(engine_standby(w.engine, "h3", "tester", w.now, &id, NULL) < 0);
    assert_true(engine_standby(w.engine, "h1", "tester", w.now, &id, NULL) < 0);
    w.vms[2].host = w.vms[3].host = 0;
    w.host_state[1] = w.host_state[2] = HOST_STANDBY; /* one that sleeps must come back if it can */
    world_run(70);
    assert_int_equal(fact(1)->dpm, AUTOMATION_INHERIT);
    assert_int_equal(fact(2)->dpm, AUTOMATION_DISABLED);
    w.host_state[1] = HOST_ON;
    world_run(70);
    assert_int_equal(fact(1)->dpm, AUTOMATION_DISABLED);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renamed_and_stored),
        cmocka_unit_test(test_killed_between_steps),
        cmocka_unit_test(test_proven_before_each_call),
        cmocka_unit_test(test_lost_while_it_goes_down),
        cmocka_unit_test(test_stays_on),
        cmocka_unit_test(test_stays_on_and_the_clock_is_set_back),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_goes_down_late),
        cmocka_unit_test(test_said_off_and_on),
        cmocka_unit_test(test_goes_late),
        cmocka_unit_test(test_proof_that_loses_its_host),
        cmocka_unit_test(test_task_cannot_be_asked),
        cmocka_unit_test(test_lost_while_it_is_emptied),
        cmocka_unit_test(test_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
