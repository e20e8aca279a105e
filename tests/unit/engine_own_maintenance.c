/* Maintenance of hosts whose hypervisor has no such mode: the engine evacuates them and keeps the mark. */
#include "engine_world.h"

/* Four VMs on h0; the source can migrate and has no maintenance mode. */
static void begin(struct world *w)
{
    world_init(w, 3, 4);
    w->settings.operations &= ~(1u << OPERATION_ENTER_MAINTENANCE | 1u << OPERATION_EXIT_MAINTENANCE);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->imbalance = 0;
    world_begin_engine();
    world_run(5);
}

static enum host_state seen(const char *host)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return s->hosts[snapshot_find_host(s, host)].is.state;
}

static uint64_t ask(bool enter)
{
    struct err err = {0};
    uint64_t id = 0;

    assert_int_equal(engine_maintenance(W->engine, "h0", enter, "tester", W->now, &id, NULL, &err), 0);
    return id;
}

static void evacuate(struct world *w)
{
    for (int i = 0; i < 4; i++)
        w->script[i] = (struct world_move){.vm = i, .to = 1 + i % 2, .priority = 1, .evacuates = true};
    w->n_script = 4;
    world_run(180);
    w->n_script = 0;
}

static void enter(struct world *w)
{
    const uint64_t id = ask(true);

    world_run(3);
    assert_int_equal(seen("h0"), HOST_ENTERING_MAINTENANCE);
    assert_int_equal(world_state(id), ACTION_APPROVED); /* not before it is empty */
    evacuate(w);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_int_equal(seen("h0"), HOST_MAINTENANCE);
    assert_int_equal(w->host_state[0], HOST_ON); /* the hypervisor was told nothing */
    assert_int_equal(ask(true), 0);              /* it is there */
}

static void test_enter_and_exit(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    enter(&w);
    const uint64_t id = ask(false);

    world_run(70);
    assert_int_equal(world_state(id), ACTION_DONE);
    assert_int_equal(seen("h0"), HOST_ON);
    world_release();
}

/* The host is switched off by those who work on it, and the service is restarted, before and after. */
static void test_outlives_restarts(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    enter(&w);
    world_restart();
    world_run(70);
    assert_int_equal(seen("h0"), HOST_MAINTENANCE);
    w.host_state[0] = HOST_DISCONNECTED;
    world_run(130);
    assert_int_equal(seen("h0"), HOST_DISCONNECTED);
    world_restart();
    world_run(70);
    w.host_state[0] = HOST_ON;
    world_run(130);
    assert_int_equal(seen("h0"), HOST_MAINTENANCE);
    world_release();
}

static void test_exit_while_it_is_off(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    enter(&w);
    w.host_state[0] = HOST_DISCONNECTED;
    world_run(130);
    const uint64_t id = ask(false);

    assert_int_equal(world_state(id), ACTION_DONE);
    w.host_state[0] = HOST_ON;
    world_run(130);
    assert_int_equal(seen("h0"), HOST_ON);
    world_release();
}

/* While it is being emptied: nothing is to be undone. */
static void test_taken_back(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    const uint64_t id = ask(true);

    world_run(3);
    assert_int_equal(ask(false), id);
    assert_int_equal(world_state(id), ACTION_CANCELLED);
    world_run(70);
    assert_int_equal(seen("h0"), HOST_ON);
    world_release();
}

/* A person starts a VM on the host: it is to leave, and the inventory is not refused because of it. */
static void test_vm_is_started_there(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    enter(&w);
    w.vms[0].host = 0;
    world_run(70);
    assert_int_equal(seen("h0"), HOST_ENTERING_MAINTENANCE);
    evacuate(&w);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(seen("h0"), HOST_MAINTENANCE);
    world_release();
}

static void test_nothing_can_move(void **state)
{
    struct world w;
    struct err err = {0};
    uint64_t id = 0;

    (void)state;
    begin(&w);
    w.settings.operations = 0;
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(engine_maintenance(w.engine, "h0", true, "tester", w.now, &id, NULL, &err), -ENOTSUP);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enter_and_exit),       cmocka_unit_test(test_outlives_restarts),
        cmocka_unit_test(test_exit_while_it_is_off), cmocka_unit_test(test_taken_back),
        cmocka_unit_test(test_vm_is_started_there),  cmocka_unit_test(test_nothing_can_move),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
