/* Times in which optional moves (balance.windows), or single VMs (no_moves), are held in the engine. */
#include "engine_world.h"

#include "base/cleanup.h"

/* 1970-01-12T13:46:40Z: the world begins. */
#define CLOSED "1970-01-13 20:00 UTC for 1h"

struct plans {
    struct arena arena;
    struct schedule_window window, no_moves;
    struct schedule balance;
    struct overlay_vms vms;
    struct condition condition;
    struct overlay overlay;
};

/* vm00 must move (maintenance), vm01 may, both to h1. */
static void begin(struct world *w, struct plans *p, const char *window)
{
    world_init(w, 3, 6);
    *p = (struct plans){0};
    if (window) {
        assert_int_equal(schedule_window_parse(window, "UTC", &p->arena, &p->window, NULL), 0);
        p->balance = (struct schedule){.windows = &p->window, .n_windows = 1, .zone = "UTC"};
        w->settings.balance = &p->balance;
    }
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 1};
    w->script[1] = (struct world_move){.vm = 1, .to = 1, .priority = 3};
    w->n_script = 2;
}

static void end(struct plans *p)
{
    world_release();
    arena_release(&p->arena);
}

static const struct balance_facts *seen(const struct world *w)
{
    return &engine_snapshot(w->engine)->balance;
}

static void test_outside(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, CLOSED);
    world_begin_engine();
    world_run(30);
    assert_true(seen(&w)->given && !seen(&w)->open);
    assert_int_equal(seen(&w)->changes, 86400 * 12 + 20 * 3600);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED); /* shown, not carried out */
    assert_int_equal(world_apply(2), 0);                  /* a person decides at any time */
    world_run(30);
    assert_int_equal(world_state(2), ACTION_DONE);
    end(&p);
}

static void test_without_windows(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, NULL);
    world_begin_engine();
    world_run(30);
    assert_false(seen(&w)->given);
    assert_int_equal(world_state(2), ACTION_DONE);
    end(&p);
}

static void test_opens(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, "1970-01-12 13:50 UTC for 1h"); /* in 200 s */
    world_begin_engine();
    world_run(190);
    assert_int_equal(world_state(2), ACTION_RECOMMENDED);
    world_run(600);
    assert_true(seen(&w)->open);
    assert_int_equal(world_state(2), ACTION_DONE);
    end(&p);
}

/* Approved in time, but the first move takes the only slot for too long. What has begun ends. */
static void test_closes_before_it_begins(void **state)
{
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, "1970-01-12 13:00 UTC for 46min 55s"); /* 15 s are left */
    w.script[0].priority = 3;
    w.settings.policy.migrations_per_cluster = 1;
    w.task_s = 30;
    world_begin_engine();
    world_run(10);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(2), ACTION_APPROVED);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_non_null(strstr(world_action(2)->why, "balance.windows"));
    end(&p);
}

/* Not even what a person has approved: a backup would fail. */
static void test_no_moves_of_a_vm(void **state)
{
    static const char *const names[] = {"vm01"};
    struct world w;
    struct plans p;

    (void)state;
    begin(&w, &p, NULL);
    assert_int_equal(
        schedule_window_parse("1970-01-12 13:46:45 UTC for 5min", "UTC", &p.arena, &p.no_moves, NULL), 0);
    p.condition = (struct condition){.names = {.items = names, .n = 1}};
    p.vms = (struct overlay_vms){.vms = {.conditions = &p.condition, .n = 1},
                                 .no_moves = {.windows = &p.no_moves, .n_windows = 1, .zone = "UTC"}};
    p.overlay = (struct overlay){.vms = &p.vms, .n_vms = 1};
    w.settings.overlay = &p.overlay;
    w.settings.policy.automation = AUTOMATION_MANUAL;
    world_begin_engine();
    world_run(3);
    assert_null(engine_snapshot(w.engine)->vms[1].is.immovable);
    world_run(70);
    const char *why = engine_snapshot(w.engine)->vms[1].is.immovable;

    assert_string_equal(why, "no_moves of the configuration, until 1970-01-12T13:51:45Z");
    assert_int_equal(world_apply(2), 0);
    world_run(3);
    assert_int_equal(world_state(2), ACTION_CANCELLED);
    assert_non_null(strstr(world_action(2)->why, "cannot be moved: no_moves of the configuration"));
    world_run(300);
    assert_null(engine_snapshot(w.engine)->vms[1].is.immovable);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_without_windows),
        cmocka_unit_test(test_opens),
        cmocka_unit_test(test_closes_before_it_begins),
        cmocka_unit_test(test_no_moves_of_a_vm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
