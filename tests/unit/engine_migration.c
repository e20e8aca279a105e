/* A VM that an admin migrates to its best host: the best host alone, the action, and refused requests. */
#include "engine_world.h"

#include "overlay/overlay.h"

/* h0 with vm00 ... vm03; vm03 is off. The best host of vm01 is h2, of vm02 its own, and vm00 has none. */
static void begin_best(struct world *w, enum automation automation)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = automation;
    w->imbalance = w->target = 0.1;
    w->vms[3].off = true;
    w->places[0] = (struct world_move){.vm = 1, .to = 2, .priority = 1};
    w->places[1] = (struct world_move){.vm = 0, .to = -1};
    w->n_places = 2;
    world_begin_engine();
    world_run(3);
}

static int migrate(const char *vm, bool apply, struct placement *ret, struct err *err)
{
    const struct place_request q = {.vms = &vm, .n_vms = 1, .migrates = true, .apply = apply, .by = "tester"};

    return world_place(&q, ret, err);
}

static void test_a_look_changes_nothing(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_best(&w, AUTOMATION_FULL);
    assert_int_equal(migrate("vm01", false, &p, &err), 0);
    assert_int_equal(p.plan->n_recommendations, 1);
    assert_int_equal(p.best, 2);
    assert_int_equal(p.n_ids, 0);
    world_run(300);
    assert_int_equal(w.n_actions, 0);
    assert_int_equal(w.vms[1].host, 0);
    world_release();
}

/* At every level of automation: the request is the approval. */
static void test_carried_out(void **state)
{
    static const enum automation levels[] = {AUTOMATION_MANUAL, AUTOMATION_PARTIAL, AUTOMATION_FULL};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(levels); i++) {
        struct world w;
        struct placement p;
        struct err err;

        begin_best(&w, levels[i]);
        int passes = w.n_passes;

        assert_int_equal(migrate("vm01", true, &p, &err), 0);
        assert_int_equal(p.n_ids, 1);
        assert_int_equal(w.n_passes, passes + 1); /* what it was decided from is kept */
        assert_int_equal(world_action(1)->kind, ACTION_MIGRATE);
        assert_string_equal(world_action(1)->approved_by, "tester");
        assert_int_equal(migrate("vm01", true, &p, &err), -EALREADY);
        assert_non_null(strstr(err.text, "is being moved already: action 1"));
        world_run(40);
        assert_int_equal(world_state(1), ACTION_DONE);
        assert_int_equal(w.vms[1].host, 2);
        assert_int_equal(w.n_actions, 1);
        world_release();
    }
}

/* The VM runs on its best host already: the reply names that host, and no action begins. */
static void test_stays(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_best(&w, AUTOMATION_FULL);
    int passes = w.n_passes;

    assert_int_equal(migrate("vm02", true, &p, &err), 0);
    assert_int_equal(p.best, 0);
    assert_int_equal(p.plan->n_recommendations, 0);
    assert_int_equal(p.n_ids, 0);
    assert_int_equal(w.n_passes, passes);
    assert_int_equal(w.n_actions, 0);
    world_release();
}

/* The recommendation of a pass for the VM is superseded; those for other VMs stay. */
static void test_recommendations_give_way(void **state)
{
    struct world w;
    struct placement p;
    struct err err;

    (void)state;
    begin_best(&w, AUTOMATION_MANUAL);
    w.script[0] = (struct world_move){.vm = 1, .to = 1, .priority = 3};
    w.script[1] = (struct world_move){.vm = 2, .to = 1, .priority = 3};
    w.n_script = 2;
    world_run(60);
    assert_int_equal(migrate("vm01", true, &p, &err), 0);
    assert_int_equal(world_state(1), ACTION_EXPIRED);
    assert_string_equal(world_action(1)->why, "an admin migrates it");
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    world_run(40);
    assert_int_equal(w.vms[1].host, 2);
    assert_int_equal(w.vms[2].host, 0);
    world_release();
}

/* Requests that are refused, with their messages; no action begins. */
static void test_refusals(void **state)
{
    static const struct {
        const char *vm;
        bool paused, no_actuators, source_down, unread, apply_only;
        int code;
        const char *text;
    } cases[] = {
        {"nobody", .code = -EINVAL, .text = "there is no VM \"nobody\""},
        {"vm03", .code = -EBUSY, .text = "vm03 cannot be migrated: it does not run"},
        {"vm00", .code = -ENOSPC, .text = "no host may run VM vm00: "},
        {"vm01", .source_down = true, .code = -ECONNREFUSED, .text = "no answer"},
        {"vm01", .paused = true, .apply_only = true, .code = -EBUSY, .text = "paused"},
        {"vm01", .no_actuators = true, .apply_only = true, .code = -ENOTSUP,
         .text = "this source cannot be asked to migrate a VM"},
        {"vm01", .unread = true, .apply_only = true, .code = -EAGAIN,
         .text = "nothing was migrated: labels and tags"},
    };

    static const char *const tag = "apart";
    static const struct condition tagged = {.tags = {.items = &tag, .n = 1}};
    static const struct overlay_vms vms = {.vms = {&tagged, 1}, .never_move = "it is old"};
    static const struct overlay by_tag = {.vms = &vms, .n_vms = 1}; /* without it labels do not matter */

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        for (int apply = 0; apply < 2; apply++) {
            struct world w;
            struct placement p;
            struct err err = {0};

            begin_best(&w, AUTOMATION_FULL);
            if (cases[i].paused)
                assert_int_equal(engine_pause(w.engine, "tester", w.now, NULL), 0);
            if (cases[i].no_actuators)
                w.settings.operations &= ~(1u << OPERATION_MIGRATE);
            if (cases[i].unread)
                w.settings.overlay = &by_tag;
            engine_configure(w.engine, &w.settings, w.now);
            w.source_down = cases[i].source_down;
            w.labels_unread = cases[i].unread ? "the tags of 3 VMs" : NULL;
            int r = migrate(cases[i].vm, apply, &p, &err);

            if (cases[i].apply_only && !apply) {
                assert_int_equal(r, 0);
            } else {
                assert_int_equal(r, cases[i].code);
                assert_non_null(strstr(err.text, cases[i].text));
            }
            world_run(5);
            assert_int_equal(w.n_actions, 0);
            assert_int_equal(w.n_tasks, 0);
            world_release();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_look_changes_nothing),
        cmocka_unit_test(test_carried_out),
        cmocka_unit_test(test_stays),
        cmocka_unit_test(test_recommendations_give_way),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
