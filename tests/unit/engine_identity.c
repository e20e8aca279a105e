/* A VM whose id was given to another VM is not moved in its place, and what makes it doubtful whether the
 * service should act keeps it from acting by itself. */
#include "engine_world.h"

static const char *meant; /* of the VM in the request to the actuator */

static bool watch(const struct job *o, struct job_result *ret)
{
    const char *is = W->vm_identity;

    if (o->kind != JOB_START || o->operation.only_adopt)
        return false;
    meant = o->operation.identity;
    if (!meant || strcmp(meant, is) == 0)
        return false;
    ret->code = err_set(&ret->err, -ESTALE, "VM %s is %s", o->operation.vm, is);
    return true;
}

static int approve(uint64_t id)
{
    return engine_approve(W->engine, &id, NULL, 1, "tester", W->now, NULL, NULL);
}

static void init(struct world *w)
{
    world_init(w, 2, 4);
    w->settings.policy.automation = AUTOMATION_MANUAL;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 2};
    w->n_script = 1;
    w->actuators = watch;
    w->vm_identity = "u0";
    meant = NULL;
}

static void test_the_same_vm(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    world_begin_engine();
    world_run(3);
    assert_int_equal(approve(1), 0);
    world_run(30);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_non_null(meant);
    assert_string_equal(meant, "u0");
    world_release();
}

/* Recommended of one VM, approved once another one has its id: by an inventory that shows it, and before. */
static void test_another_vm(void **state)
{
    (void)state;
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world w;

        init(&w);
        world_begin_engine();
        world_run(3);
        w.vm_identity = "u1";
        assert_int_equal(approve(1), 0);
        if (restarts)
            world_restart();
        world_run(60);
        assert_true(world_state(1) == ACTION_CANCELLED || (meant && strcmp(meant, "u0") == 0));
        assert_int_equal(w.vms[0].host, 0);
        world_release();
    }
}

/* The recommendation for the other one has another number. */
static void test_another_recommendation(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    world_begin_engine();
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    w.vm_identity = "u1";
    world_run(2 * (int)w.settings.policy.interval_s);
    assert_int_equal(world_state(1), ACTION_EXPIRED);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    w.vm_identity = NULL; /* not read this time: it is the same one */
    world_run(2 * (int)w.settings.policy.interval_s);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    world_release();
}

static void test_held_back(void **state)
{
    struct world w;

    (void)state;
    init(&w);
    w.settings.policy.automation = AUTOMATION_FULL;
    world_begin_engine();
    engine_hold_back(w.engine, "another service acts here", w.now);
    world_run(3 * (int)w.settings.policy.interval_s);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    const struct snapshot *s = engine_snapshot(w.engine);

    assert_int_equal(s->source_faults.n, 1);
    assert_string_equal(s->source_faults.items[0], "another service acts here");
    engine_hold_back(w.engine, NULL, w.now);
    world_run(3 * (int)w.settings.policy.interval_s);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(engine_snapshot(w.engine)->source_faults.n, 0);
    world_release();
}

/* What the engine has approved and not begun is cancelled; what a person approved is not. */
static void test_held_back_after_approval(void **state)
{
    (void)state;
    for (int person = 0; person < 2; person++) {
        struct world w;

        init(&w);
        if (!person)
            w.settings.policy.automation = AUTOMATION_FULL;
        world_begin_engine();
        world_run(3);
        engine_hold_back(w.engine, "another service acts here", w.now);
        if (person)
            assert_int_equal(approve(1), 0);
        world_run(60);
        assert_int_equal(world_state(1) == ACTION_DONE, person);
        world_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_vm),
        cmocka_unit_test(test_another_vm),
        cmocka_unit_test(test_another_recommendation),
        cmocka_unit_test(test_held_back),
        cmocka_unit_test(test_held_back_after_approval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
