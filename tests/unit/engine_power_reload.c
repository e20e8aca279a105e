/* New settings of a host's power methods: they count at once, for a standby that is asked for and for one
 * that is approved, and an answer that was asked for by the former ones does not count any more. */
#include "engine_world.h"

static struct host_power_method way;

/* h2 was woken by IPMI, with the settings 5. vm02 and vm03 need 20 s each to leave it. */
static void begin(struct world *w)
{
    world_init_standby(w);
    w->unproven = true;
    w->task_s = 20;
    way = (struct host_power_method){
        .name = "h2", .wakes = WAKE_IPMI, .sleeps = WAKE_IPMI, .settings = {5, 6, 7, 1}};
    w->settings.ways = &way;
    w->settings.n_ways = 1;
    w->n_known = 1;
    w->known[0] = (struct host_record){.host = "h2",
                                       .seen = WORLD_START,
                                       .boot_s = UNKNOWN,
                                       .proofs = {{.settings = 5, .proven = WORLD_START}}};
    world_begin_engine();
}

static void reload(struct world *w)
{
    engine_configure(w->engine, &w->settings, w->now);
}

/* Until the actuators are to check action 3, which they have not done. */
static void until_to_check(struct world *w)
{
    for (int s = 0; s < 300; s++) {
        w->now++;
        w_tasks_go_on();
        world_answer();
        engine_tick(w->engine, w->now);
        world_answer();
        for (int i = 0; i < w->n_jobs; i++) {
            if (w->jobs[i].id == 3 && w->jobs[i].kind == JOB_CHECK)
                return;
        }
        world_work();
    }
    fail();
}

static void test_asked_for_right_after(void **state)
{
    struct engine_method_proof proofs[WAKE_METHODS];
    struct err err = {0};
    struct world w;
    uint64_t id;

    (void)state;
    begin(&w);
    w.n_script = 0;
    world_run(5);
    assert_int_equal(engine_method_proofs(w.engine, "h2", proofs), 1);
    assert_int_equal(proofs[0].is, METHOD_PROVEN);
    way.settings[0] = 8;
    reload(&w);
    (void)engine_method_proofs(w.engine, "h2", proofs);
    assert_int_equal(proofs[0].is, METHOD_EXPIRED);
    assert_int_equal(engine_standby(w.engine, "h2", "anna", w.now, &id, &err), -EPERM);
    assert_non_null(strstr(err.text, "the settings of ipmi have changed"));
    way.settings[0] = 5; /* another entry, by another name */
    way.name = "h3";
    reload(&w);
    assert_int_equal(engine_standby(w.engine, "h2", "anna", w.now, &id, &err), -EPERM);
    way.name = "h2";
    reload(&w);
    assert_int_equal(engine_standby(w.engine, "h2", "anna", w.now, &id, &err), 0);
    world_release();
}

/* What makes an approved standby unsafe: the host's method has other settings, or the host has none. */
static const struct {
    const char *why;
    uint64_t ipmi;
    size_t n_ways;
    bool others; /* the source says that its hosts wake, and cannot switch them */
} unsafe[] = {
    {.why = "the settings of ipmi have changed", .ipmi = 8, .n_ways = 1},
    {.why = "no method to wake host h2 is proven", .ipmi = 5},
    {.why = "no longer says how host h2 is put to standby", .ipmi = 5, .others = true},
};

static void change(struct world *w, size_t i)
{
    way.settings[0] = unsafe[i].ipmi;
    w->settings.n_ways = unsafe[i].n_ways;
    if (unsafe[i].others)
        w->settings.operations &= ~(1u << OPERATION_WAKE | 1u << OPERATION_STANDBY);
    reload(w);
}

/* Whether its VMs have left or not: it is cancelled in the reload itself, and those that have not left stay.
 */
static void test_approved(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(unsafe); i++) {
        for (int moving = 0; moving < 2; moving++) {
            struct world w;

            begin(&w);
            w.ahead_code = moving ? 0 : -ETIMEDOUT;
            world_run(5);
            assert_int_equal(world_state(3), ACTION_APPROVED);
            assert_true((w.starts[2] > 0) == (moving == 1));
            change(&w, i);
            assert_int_equal(world_state(3), ACTION_CANCELLED);
            assert_non_null(strstr(world_action(3)->why, unsafe[i].why));
            w.n_script = 0;
            w.ahead_code = 0;
            world_run(300);
            assert_int_equal(w.host_state[2], HOST_ON);
            assert_int_equal(w.downs[2], 0);
            assert_true(moving || w.starts[2] + w.starts[3] == 0);
            world_release();
        }
    }
}

/* The same while the last check before its beginning is out: its good answer is of the former settings. */
static void test_while_it_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(unsafe); i++) {
        struct world w;

        begin(&w);
        world_run(5);
        until_to_check(&w);
        assert_int_equal(w.vms[2].host, 0); /* it is empty */
        change(&w, i);
        w.n_script = 0;
        world_run(300);
        assert_int_equal(world_state(3), ACTION_CANCELLED);
        assert_int_equal(w.downs[2], 0);
        world_release();
    }
}

/* Settings that leave the proof as it is: the controllers are asked once more, what was asked before does not
 * count, and the standby goes on. */
static void test_goes_on(void **state)
{
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        struct world w;

        begin(&w);
        until_to_check(&w);
        assert_int_equal(w.n_jobs, 1);
        reload(&w);
        w.ahead_code = refused ? -EACCES : 0; /* by the former settings */
        const struct job job = w.jobs[0];
        const struct job_result former = w_carry_out(&job);

        w.n_jobs = 0;
        w.ahead_code = 0;
        engine_on_job_result(w.engine, &job, &former, w.now);
        assert_int_equal(world_state(3), ACTION_APPROVED);
        assert_int_equal(w.n_jobs, 1);
        assert_int_equal(w.jobs[0].kind, JOB_CHECK);
        world_run(120);
        assert_int_equal(w.n_ahead, 2);
        assert_int_equal(world_state(3), ACTION_DONE);
        world_release();
    }
}

/* Controllers that have other settings when they are emptied are asked before the next VM leaves, and refuse.
 */
static void test_asked_anew_while_it_is_emptied(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.settings.policy.migrations_per_host = 1;
    reload(&w);
    world_run(10);
    assert_int_equal(w.starts[2] + w.starts[3], 1);
    w.ahead_code = -EACCES;
    reload(&w);
    w.n_script = 0;
    world_run(100);
    assert_int_equal(world_state(3), ACTION_FAILED);
    assert_int_equal(w.starts[2] + w.starts[3], 1);
    assert_int_equal(w.downs[2], 0);
    world_release();
}

/* The question which machine the controllers belong to, too. */
static void test_identity(void **state)
{
    struct engine_identity is;
    struct world w;

    (void)state;
    begin(&w);
    w.n_script = 0;
    w.controllers = true;
    w.identity = (struct identity_report){.verdict = IDENTITY_MATCHES, .is = "ipmi 7"};
    while (w.n_questions == 0) {
        w.now++;
        world_answer();
        engine_tick(w.engine, w.now);
    }
    const struct world_question former = w.questions[0];

    w.n_questions = 0;
    reload(&w);
    w_answer_identity(&former);
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_UNREAD);
    assert_int_equal(w.n_questions, 1);
    world_run(10);
    engine_identity(w.engine, "h2", &is);
    assert_int_equal(is.is, HOST_IDENTITY_MATCHES);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_for_right_after),
        cmocka_unit_test(test_approved),
        cmocka_unit_test(test_while_it_is_checked),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_asked_anew_while_it_is_emptied),
        cmocka_unit_test(test_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
