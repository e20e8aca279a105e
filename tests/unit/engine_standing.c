/* Recommendations that nobody has approved yet: in the snapshot of the next pass, and in lists. */
#include "engine_world.h"

#include "base/cleanup.h"

static void begin(struct world *w)
{
    world_init(w, 4, 8);
    w->script[0] = (struct world_move){.vm = 3, .to = 1, .priority = 2};
    w->script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 2};
    w->n_script = 2;
    world_begin_engine();
    world_run(30);
}

/* In the order of the plan, also where an earlier recommendation comes last in the newest one. */
static void test_order(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_record **list;
    struct world w;

    (void)state;
    begin(&w);
    assert_string_equal(world_action(1)->vm, "vm03");
    w.script[2] = w.script[0];
    w.script[0] = (struct world_move){.vm = 5, .to = 3, .priority = 2};
    w.n_script = 3;
    world_run(w.settings.policy.interval_s);
    assert_int_equal(engine_actions(w.engine, &a, &list), 3);
    assert_string_equal(list[0]->vm, "vm05");
    assert_string_equal(list[1]->vm, "vm01");
    assert_string_equal(list[2]->vm, "vm03");
    assert_int_equal(list[2]->id, 1);
    world_release();
}

/* Since when: since its destination is recommended. What is approved does not stand, but locks. */
static void test_snapshot(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    instant_s since = world_action(1)->created;
    world_run(60);
    const struct snapshot *s = engine_snapshot(w.engine);
    assert_int_equal(s->n_standing, 2);
    assert_string_equal(s->vms[s->standing[0].vm].is.id, "vm03");
    assert_string_equal(s->hosts[s->standing[0].from].is.id, "h0");
    assert_string_equal(s->hosts[s->standing[0].to].is.id, "h1");
    assert_int_equal(s->standing[0].reason, REASON_BALANCE_CPU);
    assert_int_equal(s->standing[0].since, since);
    w.script[0].to = 3;
    world_run(w.settings.policy.interval_s + 60);
    s = engine_snapshot(w.engine);
    assert_string_equal(s->hosts[s->standing[0].to].is.id, "h3");
    assert_int_equal(s->standing[0].since, world_action(1)->redirected);
    assert_int_equal(s->standing[1].since, since);
    assert_int_equal(world_apply(2), 0);
    world_run(60);
    assert_int_equal(engine_snapshot(w.engine)->n_standing, 1);
    world_release();
}

/* A new process finds them in the store. */
static void test_restart(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_restart();
    for (int i = 0; i < 10 && w.passes < 2; i++)
        world_second();
    assert_int_equal(engine_snapshot(w.engine)->n_standing, 2);
    assert_int_equal(world_state(1), ACTION_RECOMMENDED);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_snapshot),
                                       cmocka_unit_test(test_restart)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
