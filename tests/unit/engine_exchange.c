/* Exchanges of VMs as move groups: two moves of one VM, and a step that fails. */
#include "engine_world.h"

/* vm00 and vm01 change places by way of h2: vm00 waits there until vm01 has left h1. */
static void begin_exchange(struct world *w)
{
    world_init(w, 3, 2);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->vms[0].host = 0;
    w->vms[1].host = 1;
    w->script[0] = (struct world_move){.vm = 0, .to = 2, .priority = 3, .group = 1};
    w->script[1] = (struct world_move){.vm = 1, .to = 0, .priority = 3, .group = 1, .depends_on = 1};
    w->script[2] = (struct world_move){
        .vm = 0, .from = 3, .to = 1, .priority = 3, .group = 1, .depends_on = 1, .depends_also_on = 2};
    w->n_script = 3;
    world_begin_engine();
}

static void check_pending(const struct world *w, const char *const expected[])
{
    const struct snapshot *s = engine_snapshot(w->engine);
    uint32_t n = 0;

    for (; expected[n]; n++) {
        char text[64];
        assert_true(n < s->n_pending);
        const struct pending *p = &s->pending[n];
        (void)snprintf(text, sizeof text, "%s %s %s", s->vms[p->vm].is.id, s->hosts[p->from].is.id,
                       s->hosts[p->to].is.id);
        assert_string_equal(text, expected[n]);
    }
    assert_int_equal(s->n_pending, n);
}

/* Both moves of a VM are approved together. The second one begins where the first one ends, and what it needs
 * at its destination is taken until then. */
static void test_vm_waits_on_a_third_host(void **state)
{
    struct world w;

    (void)state;
    begin_exchange(&w);
    world_run(3);
    w.n_script = 0; /* it is approved */
    for (int i = 0; i < 60 && engine_snapshot(w.engine)->n_pending == 0; i++)
        world_run(1);
    check_pending(&w, (const char *const[]){"vm00 h2 h1", "vm01 h1 h0", NULL});
    world_run(60);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(world_state(i), ACTION_DONE);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(w.vms[1].host, 0);
    assert_int_equal(w.starts[0], 2);
    check_pending(&w, (const char *const[]){NULL});
    world_release();
}

/* A step fails: the later ones are not begun, and each VM runs where it is. */
static void test_exchange_ends_with_a_failed_step(void **state)
{
    struct world w;

    (void)state;
    begin_exchange(&w);
    world_run(3);
    w.n_script = 0;
    for (int i = 0; i < 60 && world_state(1) != ACTION_DONE; i++)
        world_run(1);
    w.tasks_fail = true;
    world_run(60);
    assert_int_equal(world_state(2), ACTION_FAILED);
    assert_int_equal(world_state(3), ACTION_CANCELLED);
    assert_int_equal(w.vms[0].host, 2);
    assert_int_equal(w.vms[1].host, 1);
    assert_int_equal(w.starts[0], 1);
    check_pending(&w, (const char *const[]){NULL});
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vm_waits_on_a_third_host),
        cmocka_unit_test(test_exchange_ends_with_a_failed_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
