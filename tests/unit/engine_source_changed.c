/* What the engine does when the source reports a change: few inventories, and a pass only where one is due.
 */
#include "engine_world.h"

#include "engine/early_pass.h"
#include "engine/source_poll.h"

/* An inventory a minute, a pass every ten minutes; vm00 and vm01 run on h0, vm02 is off. The last pass is too
 * far away to delay anything. */
static void begin(struct world *w)
{
    world_init(w, 3, 3);
    w->settings.policy.interval_s = 600;
    w->vms[2].off = true;
    w->apart = true;
    world_begin_engine();
    world_run(70);
    assert_int_equal(w->passes, 1);
}

static void tell(void)
{
    engine_on_source_changed(W->engine, W->now);
}

/* ---- inventories ------------------------------------------------------------------------------- */

/* The first change is looked at when it has settled; a thousand in a minute, at most every ten seconds. */
static void test_storm(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(15); /* the last one is a while ago */
    int asks = w.n_asks;

    tell();
    assert_int_equal(w.n_asks, asks);
    world_run(1 + SOURCE_SETTLE_S);
    assert_int_equal(w.n_asks, asks + 1);
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 17; k++)
            tell();
        world_second();
    }
    assert_true(w.n_asks - asks <= 1 + 60 / SOURCE_CHANGE_GAP_S + 1);
    assert_true(w.n_asks - asks >= 60 / SOURCE_CHANGE_GAP_S);
    world_run(SOURCE_CHANGE_GAP_S); /* the last of them */
    asks = w.n_asks;
    world_run(40);
    assert_int_equal(w.n_asks, asks); /* and then no more than usual */
    assert_int_equal(w.passes, 1);
    world_release();
}

/* A change while an inventory is on its way may not be in it: another one follows. One that takes long is
 * followed later. */
static void test_during_a_collection(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.source_silent = true;
    while (w.asked == 0)
        world_second();
    int asks = w.n_asks;
    const instant_s asked = w.now;

    tell();
    world_run(3);
    assert_int_equal(w.n_asks, asks); /* one at a time */
    w.source_silent = false;
    while (w.n_asks == asks)
        world_second();
    assert_int_equal(w.now - asked, 4 * SOURCE_CHANGE_SHARE);
    asks = w.n_asks;
    world_run(40);
    assert_int_equal(w.n_asks, asks);
    world_release();
}

/* A collection that fails is no answer to the change; a source that is lost is not asked more often for it.
 */
static void test_failures(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(15);
    w.source_down = true;
    tell();
    world_run(60);
    int asks = w.n_asks;

    for (int i = 0; i < 60; i++) {
        tell();
        world_second();
    }
    assert_true(w.n_asks - asks <= 4);
    w.source_down = false;
    w.vms[2].off = false;
    world_run(120);
    assert_int_equal(w.passes, 2); /* what was told before still counts */
    world_release();
}

/* ---- passes ------------------------------------------------------------------------------------ */

static void vm_starts(void)
{
    W->vms[2].off = false;
}

static void vm_stops(void)
{
    W->vms[0].off = true;
}

static void vm_is_deleted(void)
{
    W->vms[0].host = -1;
}

static void ruled_vm_moves(void)
{
    W->vms[1].host = 1;
}

static void free_vm_moves(void)
{
    W->apart = false;
    W->vms[1].host = 1;
}

static void host_is_lost(void)
{
    W->host_state[1] = HOST_DISCONNECTED;
}

static void host_leaves(void)
{
    W->gone[1] = true;
}

static void nothing(void)
{
}

static const struct {
    const char *what;
    void (*happens)(void);
    bool pass;
} changes[] = {
    {"a VM was started", vm_starts, true},
    {"a VM was stopped", vm_stops, true},
    {"a VM was deleted", vm_is_deleted, true},
    {"a VM that a rule names went to another host", ruled_vm_moves, true},
    {"a VM that no rule names did", free_vm_moves, false},
    {"a host does not answer any more", host_is_lost, true},
    {"a host has left the cluster", host_leaves, true},
    {"a disk was resized", nothing, false},
};

static void test_what_makes_a_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(changes); i++) {
        struct world w;

        print_message("  %s\n", changes[i].what);
        begin(&w);
        changes[i].happens();
        tell();
        world_run(2 * (SOURCE_CHANGE_GAP_S + 2)); /* hosts are looked at twice */
        assert_int_equal(w.passes, changes[i].pass ? 2 : 1);
        world_release();
    }
}

/* Without a report by the source, passes come when they are due. */
static void test_not_told(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    vm_starts();
    world_run(300);
    assert_int_equal(w.passes, 1);
    world_release();
}

/* A cluster in which people start and stop VMs all the time has one early pass for them in an interval; a
 * host that is lost meanwhile has its own. */
static void test_busy_cluster(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    for (int i = 0; i < 200; i++) {
        w.vms[2].off = i % 2 != 0;
        tell();
        world_second();
    }
    assert_int_equal(w.passes, 2);
    host_is_lost();
    tell();
    world_run(2 * (SOURCE_CHANGE_GAP_S + 2));
    assert_int_equal(w.passes, 3);
    for (int i = 0; i < EARLY_PASS_HOST_GAP_S; i++) { /* it comes and goes */
        w.host_state[1] = i % 8 < 4 ? HOST_ON : HOST_DISCONNECTED;
        tell();
        world_second();
    }
    assert_true(w.passes <= 4);
    world_release();
}

/* A manager that restarts is seen away once, and back ten seconds later without another report. */
static void test_host_is_back_soon(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_run(15);
    int asks = w.n_asks;

    host_is_lost();
    tell();
    world_run(1 + SOURCE_SETTLE_S);
    assert_int_equal(w.n_asks, asks + 1);
    w.host_state[1] = HOST_ON;
    world_run(SOURCE_CHANGE_GAP_S);
    assert_int_equal(w.n_asks, asks + 2);
    world_run(200);
    assert_int_equal(w.passes, 1);
    world_release();
}

/* Our own migrations are reported as all others; they make no pass. */
static void test_own_moves(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    w.script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 2};
    w.n_script = 1;
    world_run(600);
    assert_int_equal(w.passes, 2);
    assert_int_equal(world_apply(1), 0);
    for (int i = 0; i < 200; i++) {
        tell();
        world_second();
    }
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_int_equal(w.vms[0].host, 1);
    assert_int_equal(w.passes, 2);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storm),     cmocka_unit_test(test_during_a_collection),
        cmocka_unit_test(test_failures),  cmocka_unit_test(test_what_makes_a_pass),
        cmocka_unit_test(test_not_told),  cmocka_unit_test(test_busy_cluster),
        cmocka_unit_test(test_own_moves), cmocka_unit_test(test_host_is_back_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
