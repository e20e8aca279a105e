/* Hosts that are put to standby: only when they are seen to be empty, are not needed, and will come back. */
#include "engine_world.h"

/* vm02 and vm03 are on h2, which the pass wants to sleep. */
static void begin(struct world *w)
{
    world_init(w, 4, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->settings.policy.dpm.enabled = true;
    w->settings.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w->boot_s = 30;
    w->vms[2].host = w->vms[3].host = 2;
    w->script[0] = (struct world_move){.vm = 2, .to = 0, .priority = 3, .group = 1, .empties = true};
    w->script[1] = (struct world_move){.vm = 3, .to = 1, .priority = 3, .group = 1, .empties = true};
    w->script[2] = (struct world_move){.kind = ACTION_POWER_OFF, .to = 2, .priority = 3, .group = 1};
    w->n_script = 3;
    w->imbalance = 0;
}

static void test_emptied_and_put_down(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_begin_engine();
    world_run(3);
    assert_int_equal(world_state(1), ACTION_RUNNING);
    assert_int_equal(world_state(3), ACTION_APPROVED);
    world_run(40);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    assert_int_equal(w.downs[2], 1);
    world_run(300); /* and there it stays */
    assert_int_equal(w.downs[2], 1);
    assert_int_equal(w.n_actions, 3);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emptied_and_put_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
