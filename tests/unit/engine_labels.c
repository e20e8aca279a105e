/* While labels of the source could not be read, rules may be missing: no move begins by itself. */
#include "engine_world.h"

#define UNREAD "HTTP 503"

struct rules {
    const char *tag, *name;
    struct condition condition;
    struct overlay_vms vms;
    struct overlay overlay;
};

/* vm00 must move (maintenance), vm01 may, both to h1. The configuration selects by a tag, or by a name. */
static void begin(struct world *w, struct rules *r, bool by_tag)
{
    world_init(w, 3, 6);
    *r = (struct rules){.tag = "night-backup", .name = "vm05"};
    r->condition = by_tag ? (struct condition){.tags = {.items = &r->tag, .n = 1}}
                          : (struct condition){.names = {.items = &r->name, .n = 1}};
    r->vms = (struct overlay_vms){.vms = {&r->condition, 1}, .never_move = "it is old"};
    r->overlay = (struct overlay){.vms = &r->vms, .n_vms = 1};
    w->settings.overlay = &r->overlay;
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->labels_unread = UNREAD;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 1};
    w->script[1] = (struct world_move){.vm = 1, .to = 1, .priority = 3};
    w->script[2] = (struct world_move){.vm = 2, .to = 2, .priority = 3};
    w->n_script = 3;
}

/* Neither optional nor mandatory moves; but the one that a person approves, and all as soon as they are read:
 * not only at the next interval. */
static void test_waits(void **state)
{
    struct world w;
    struct rules r;

    (void)state;
    begin(&w, &r, true);
    world_begin_engine();
    world_run(400);
    assert_true(w.passes > 1);
    assert_int_equal(w.n_tasks, 0);
    assert_string_equal(engine_snapshot(w.engine)->labels_unread, UNREAD);
    assert_int_equal(world_apply(2), 0);
    world_run(30);
    assert_int_equal(w.vms[1].host, 1);
    assert_int_equal(w.n_tasks, 1);
    w.labels_unread = NULL;
    world_run(2 * 60); /* two looks, less than an interval */
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(w.vms[2].host, 2);
    world_release();
}

/* A command that approves its own moves does not approve these. */
static void test_maintenance_waits(void **state)
{
    struct world w;
    struct rules r;
    uint64_t id = 0;

    (void)state;
    begin(&w, &r, true);
    w.settings.policy.automation = AUTOMATION_MANUAL;
    w.script[0].evacuates = true;
    world_begin_engine();
    world_run(10);
    assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &id, NULL, NULL), 0);
    world_run(700);
    assert_int_equal(w.n_tasks, 0);
    w.labels_unread = NULL;
    world_run(700);
    assert_int_equal(w.vms[0].host, 1);
    world_release();
}

/* What no entry of the configuration needs is not waited for. */
static void test_not_needed(void **state)
{
    struct world w;
    struct rules r;

    (void)state;
    begin(&w, &r, false);
    world_begin_engine();
    world_run(30);
    assert_null(engine_snapshot(w.engine)->labels_unread);
    assert_int_equal(w.vms[1].host, 1);
    world_release();
}

/* Approved with all rules known, not begun when the process ended: the new one does not know them yet. */
static void test_approved_before_a_restart(void **state)
{
    struct world w;
    struct rules r;

    (void)state;
    begin(&w, &r, true);
    w.labels_unread = NULL;
    world_begin_engine();
    world_killed(0, 3, 40);
    w.labels_unread = UNREAD;
    world_run(300);
    int begun = w.n_tasks;

    w.labels_unread = NULL;
    world_run(400);
    print_message("  %d begun before they were read, %d after\n", begun, w.n_tasks - begun);
    assert_int_equal(begun, 0);
    assert_int_equal(w.vms[1].host, 1);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_maintenance_waits),
        cmocka_unit_test(test_not_needed),
        cmocka_unit_test(test_approved_before_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
