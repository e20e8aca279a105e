/* Scripted changes of a simulated cluster: each happens at once and changes nothing else. */
#include "sim_changes.h"
#include "sim_world.h"

#include <errno.h>

/* Three hosts of 10,000 MHz, 16 GiB; on h1 two VMs of 1,000 MHz and 1,000 MiB, at h1 one that is off. */
static void begin(struct sim *w)
{
    sim_init(w);
    for (int i = 0; i < 3; i++)
        small_host(&w->small, (const char *[]){"h1", "h2", "h3"}[i], 10000, 16384);
    small_vm(&w->small, "a", "h1", 1000, 1000);
    small_vm(&w->small, "b", "h1", 1000, 1000);
    struct seen_vm *off = small_vm(&w->small, "off", "h1", 0, 1000);

    off->is.state = VM_OFF;
    off->is.demand[RES_MEM] = 0;
    sim_build(w);
    w->s.vms[sim_vm(w, "off")].of[RES_CPU].level = 500;
    w->s.vms[sim_vm(w, "off")].of[RES_MEM].level = 500;
}

static int sim_power_on(struct sim *w, const char *vm, const char *to, char task[TASK_NAME_MAX])
{
    struct operation q = sim_of_vm(w, OPERATION_POWER_ON_VM, vm, NULL, to);

    return sim_start(w, &q, task);
}

static void test_demand(void **state)
{
    struct sim w;

    (void)state;
    begin(&w);
    sim_begin(&w);
    uint32_t a = sim_vm(&w, "a"), off = sim_vm(&w, "off");

    sim_run(&w, 10);
    w.s.vms[a].of[RES_CPU].level = 2000;
    w.s.vms[a].of[RES_MEM].level = 600;
    NEAR(sim_gets(&w, "a", RES_CPU), 1000); /* nobody has said so */
    cluster_demand_changed(w.c, a);
    sim_check(&w);
    NEAR(sim_gets(&w, "a", RES_CPU), 2000);
    NEAR(sim_gets(&w, "a", RES_MEM), 600 + w.s.initial.vms[a].is.overhead_mb);
    NEAR(sim_gets(&w, "b", RES_CPU), 1000);
    cluster_demand_changed(w.c, off); /* it does not run */
    sim_run(&w, 20);
    NEAR(cluster_vm(w.c, off)->wants[RES_CPU], 0);
    NEAR(cluster_vm_totals(w.c, a)->delivered[RES_CPU], 10 * 1000 + 10 * 2000);
    sim_release(&w);
}

/* It goes in mid-migration, or while it starts: what was under way fails, its room is free, nothing comes
 * back. */
static void test_removed(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    char moved[TASK_NAME_MAX], started[TASK_NAME_MAX];

    (void)state;
    begin(&w);
    w.s.vms[sim_vm(&w, "a")].leaves_s = 100;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", moved), 0);
    assert_int_equal(sim_power_on(&w, "off", "h3", started), 0);
    sim_run(&w, 1);
    assert_true(cluster_has_vm(w.c, sim_vm(&w, "a")));
    sim_remove_vm(w.c, sim_vm(&w, "a"));
    sim_remove_vm(w.c, sim_vm(&w, "off"));
    sim_remove_vm(w.c, sim_vm(&w, "a")); /* it is not there */
    sim_check(&w);
    assert_false(cluster_has_vm(w.c, sim_vm(&w, "a")));
    assert_int_equal(sim_poll(&w, moved).state, TASK_FAILED);
    assert_int_equal(sim_poll(&w, started).why.code, -ENOENT);
    assert_int_equal(cluster_migrations_running(w.c), 0);
    sim_run(&w, 1000);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.n_vms, 1);
    assert_string_equal(s.vms[0].is.id, "b");
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), -ENOENT);
    sim_release(&w);
}

static const struct {
    enum sim_fault fault;
    int begun; /* what start() gives */
    enum task_state early, late;
} faults[] = {
    {sim_fault_count, 0, TASK_RUNNING, TASK_SUCCEEDED},
    {SIM_MIGRATION_REFUSED, -EPERM, TASK_FAILED, TASK_FAILED},
    {SIM_MIGRATION_FAILS, 0, TASK_RUNNING, TASK_FAILED},
    {SIM_MIGRATION_HANGS, 0, TASK_RUNNING, TASK_RUNNING},
};

/* Every migration and start of the VM, until it is taken back; a hanging one ends when it is cancelled. */
static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(faults); i++) {
        struct sim w;
        char task[2][TASK_NAME_MAX];

        begin(&w);
        sim_begin(&w);
        sim_set_fault(w.c, sim_vm(&w, "a"), faults[i].fault);
        sim_set_fault(w.c, sim_vm(&w, "off"), faults[i].fault);
        for (int again = 0; again < 2; again++) {
            int begun = again && faults[i].late == TASK_SUCCEEDED ? -ESTALE : faults[i].begun;

            assert_int_equal(sim_move(&w, "a", "h1", "h2", task[0]), begun);
            assert_int_equal(sim_power_on(&w, "off", "h2", task[1]), begun);
            if (begun < 0)
                continue;
            double from_s = again * 200.0;

            for (int k = 0; k < 2; k++) {
                sim_run(&w, from_s + (k ? 100 : 1));
                for (int t = 0; t < 2; t++)
                    assert_int_equal(sim_poll(&w, task[t]).state, k ? faults[i].late : faults[i].early);
            }
            for (int t = 0; t < 2; t++)
                assert_int_equal(cluster_cancel(w.c, task[t], NULL), 0);
            sim_run(&w, from_s + 200);
        }
        assert_int_equal(cluster_vm(w.c, sim_vm(&w, "a"))->host, faults[i].late == TASK_SUCCEEDED ? 1 : 0);
        assert_int_equal(sim_vm_operations(w.c), faults[i].begun < 0                ? 0
                                                 : faults[i].late == TASK_SUCCEEDED ? 2
                                                                                    : 4);
        sim_set_fault(w.c, sim_vm(&w, "a"), sim_fault_count);
        sim_set_fault(w.c, sim_vm(&w, "off"), sim_fault_count);
        if (faults[i].late != TASK_SUCCEEDED) {
            assert_int_equal(sim_move(&w, "a", "h1", "h2", task[0]), 0);
            assert_int_equal(sim_power_on(&w, "off", "h2", task[1]), 0);
            sim_run(&w, 1000);
            assert_int_equal(cluster_vm(w.c, sim_vm(&w, "a"))->host, 1);
            assert_int_equal(cluster_vm(w.c, sim_vm(&w, "off"))->host, 1);
        }
        sim_release(&w);
    }
}

/* A start that is cancelled is not made, and leaves its host as it was. */
static void test_start_is_cancelled(void **state)
{
    struct sim w;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w);
    sim_begin(&w);
    assert_int_equal(sim_power_on(&w, "off", "h2", task), 0);
    sim_run(&w, 1);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h2", NULL), -EBUSY);
    assert_int_equal(cluster_cancel(w.c, task, NULL), 0);
    assert_int_equal(sim_poll(&w, task).why.code, -ECANCELED);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h2", NULL), 0);
    sim_run(&w, 100);
    assert_int_equal(cluster_vm(w.c, sim_vm(&w, "off"))->host, IX_NONE);
    sim_release(&w);
}

static void test_deaf(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    struct scripted_fault deaf = {.kind = SIM_SOURCE_DEAF, .host = IX_NONE, .vm = IX_NONE, .for_s = INFINITY};

    (void)state;
    begin(&w);
    sim_begin(&w);
    cluster_strike(w.c, &deaf);
    sim_run(&w, 1e6);
    assert_int_equal(cluster_collect(w.c, &w.small.a, &inv, NULL), -ECONNREFUSED);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    deaf.for_s = 0;
    cluster_strike(w.c, &deaf);
    sim_look(&w, &inv, &s);
    deaf = (struct scripted_fault){.kind = SIM_HOST_DIES, .host = 0, .vm = IX_NONE, .for_s = INFINITY};
    cluster_strike(w.c, &deaf);
    sim_check(&w);
    assert_true(cluster_host(w.c, 0)->dead);
    sim_release(&w);
}

/* Numbered on from what is given; one of another process is not known, whatever its number. */
static void test_task_numbers(void **state)
{
    struct sim w;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w);
    sim_begin(&w);
    cluster_number_tasks_from(w.c, 0x80000000u);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", task), 0);
    assert_string_equal(task, "sim-task-2147483648");
    assert_int_equal(sim_move(&w, "b", "h1", "h2", task), 0);
    assert_string_equal(task, "sim-task-2147483649");
    assert_false(sim_poll(&w, task).gone);
    assert_true(sim_poll(&w, "sim-task-1").gone);
    sim_release(&w);
}

/* What nobody has set holds nobody back and is not shown; what is set is. */
static void test_parts_unset(void **state)
{
    for (int unset = 0; unset < 2; unset++) {
        struct sim w;
        struct inventory inv;
        struct snapshot s;
        struct pool_setting set = {.pool = "p", .alloc = {{0, 500, 7, false}, {0, NO_LIMIT, 9, false}}};
        const struct pool_settings q = {.host = "h1", .settings = &set, .n_settings = 1};

        (void)state;
        sim_init(&w);
        small_host(&w.small, "h1", 10000, 16384);
        small_host(&w.small, "h2", 10000, 16384);
        small_pool(&w.small, "p", NULL);
        small_vm(&w.small, "a", "h1", 1000, 1000)->pool = "p";
        sim_build(&w);
        w.s.parts_unset = unset;
        sim_begin(&w);
        sim_look(&w, &inv, &s);
        assert_true(inv.settings_seen);
        assert_int_equal(s.n_settings > 0, !unset);
        NEAR(sim_gets(&w, "a", RES_CPU), 1000);
        sim_refuse_settings(w.c, 0, true);
        assert_int_equal(cluster_set_pools(w.c, &q, NULL), -EPERM);
        NEAR(sim_gets(&w, "a", RES_CPU), 1000);
        sim_refuse_settings(w.c, 0, false);
        assert_int_equal(cluster_set_pools(w.c, &q, NULL), 0);
        sim_check(&w);
        NEAR(sim_gets(&w, "a", RES_CPU), 500);
        sim_look(&w, &inv, &s);
        assert_true(s.n_settings >= 1 && s.settings[0].alloc[RES_CPU].limit == 500);
        if (unset)
            assert_int_equal(s.n_settings, 1);
        sim_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demand),      cmocka_unit_test(test_removed),
        cmocka_unit_test(test_faults),      cmocka_unit_test(test_start_is_cancelled),
        cmocka_unit_test(test_deaf),        cmocka_unit_test(test_task_numbers),
        cmocka_unit_test(test_parts_unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
