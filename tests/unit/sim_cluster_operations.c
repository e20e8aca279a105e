/* Operations of a simulated cluster: migrations, power, maintenance, starts. */
#include "sim_world.h"

#include <errno.h>

/* Three hosts of 10,000 MHz, 16 GiB; on h1 VMs of 1,000 MHz and 1,000 MiB. */
static void begin(struct sim *w, int n_vms)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f"};

    sim_init(w);
    for (int i = 0; i < 3; i++)
        small_host(&w->small, (const char *[]){"h1", "h2", "h3"}[i], 10000, 16384);
    for (int i = 0; i < n_vms; i++)
        small_vm(&w->small, ids[i], "h1", 1000, 1000);
    sim_build(w);
}

static uint32_t where(const struct sim *w, const char *vm)
{
    return cluster_vm(w->c, sim_vm(w, vm))->host;
}

/* ---- migrations ---- */

static void test_fixed(void **state)
{
    struct sim w;
    char task[TASK_NAME_MAX], again[TASK_NAME_MAX];

    (void)state;
    begin(&w, 2);
    w.s.migration = (struct migration_model){.kind = MIGRATION_FIXED, .rate_mb_s = 62.5};
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", task), 0);
    assert_int_equal(sim_move(&w, "b", "h1", "h2", NULL), 0); /* as fast: nothing is shared */
    assert_int_equal(sim_move(&w, "a", "h1", "h2", again), 0);
    assert_string_equal(task, again);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), -EBUSY);
    assert_int_equal(cluster_migrations_running(w.c), 2);
    NEAR(sim_next_s(w.c), 16);
    sim_run(&w, 8);
    assert_int_equal(sim_poll(&w, task).state, TASK_RUNNING);
    assert_int_equal(sim_poll(&w, task).percent, 50);
    assert_int_equal(where(&w, "a"), 0);
    sim_run(&w, 16);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    assert_int_equal(where(&w, "a"), 1);
    assert_int_equal(cluster_migrations_running(w.c), 0);
    NEAR(cluster_vm_totals(w.c, 0)->moved_mb, 1000);
    assert_int_equal(cluster_vm_totals(w.c, 0)->migrations, 1);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), -ESTALE);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), -ESTALE);
    assert_int_equal(sim_move(&w, "x", "h1", "h3", NULL), -ENOENT);
    sim_release(&w);
}

/* 1,000 MiB at 100 MiB/s; 40 MiB/s are written meanwhile at the tenth of a core that the VM gets: 400 MiB
 * again, then 160, 64, and 25.6 within the downtime of half a second. */
static void test_precopy_rounds(void **state)
{
    struct sim w;

    (void)state;
    begin(&w, 1);
    w.s.vms[0].dirty_mb_s = 400;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    sim_run(&w, 10 + 4 + 1.6 + 0.64 + 0.1);
    NEAR(sim_gets(&w, "a", RES_CPU), 0);
    sim_run(&w, 10 + 4 + 1.6 + 0.64 + 0.256);
    assert_int_equal(where(&w, "a"), 1);
    NEAR(sim_gets(&w, "a", RES_CPU), 1000);
    NEAR(cluster_vm_totals(w.c, 0)->moved_mb, 1000 + 400 + 160 + 64 + 25.6);
    NEAR(cluster_vm_totals(w.c, 0)->down_s, 0.256);
    NEAR(cluster_vm_totals(w.c, 0)->lost_moving_mhz_s, 256);
    sim_release(&w);
}

/* It writes faster than can be copied: never more than its memory, and after so many rounds it is stopped. */
static void test_no_convergence(void **state)
{
    struct sim w;

    (void)state;
    begin(&w, 1);
    w.s.vms[0].dirty_mb_s = 2000;
    w.s.migration.rounds_max = 3;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    sim_run(&w, 39.9);
    assert_int_equal(where(&w, "a"), 0);
    sim_run(&w, 40.1);
    assert_int_equal(where(&w, "a"), 1);
    NEAR(cluster_vm_totals(w.c, 0)->moved_mb, 4000);
    NEAR(cluster_vm_totals(w.c, 0)->down_s, 10);
    sim_release(&w);
}

/* Two leave h1 and share its link; one of them shares h2's with a third. Both ends count. */
static void test_links_are_shared(void **state)
{
    struct sim w;

    (void)state;
    begin(&w, 2);
    w.s.hosts[2].link_mb_s = 30;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    NEAR(sim_next_s(w.c), 10);
    sim_run(&w, 5);
    assert_int_equal(sim_move(&w, "b", "h1", "h3", NULL), 0); /* 30 MiB/s there, and a has 50 from now on */
    NEAR(sim_next_s(w.c), 15);
    sim_run(&w, 15.1);
    assert_int_equal(where(&w, "a"), 1);
    NEAR(sim_next_s(w.c), 5 + 1000 / 30.0);
    sim_release(&w);
}

static void test_costs_cpu_and_slows_down(void **state)
{
    struct sim w;

    (void)state;
    begin(&w, 1);
    w.s.migration.cpu_mhz_per_mb_s = 20; /* 2,000 MHz at either end */
    w.s.migration.slowdown = 0.25;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 750);
    NEAR(cluster_host(w.c, 0)->watts, 130);
    NEAR(cluster_host(w.c, 1)->watts, 120);
    NEAR(cluster_host(w.c, 0)->delivered[RES_CPU], 750);
    sim_run(&w, 20);
    NEAR(cluster_vm_totals(w.c, 0)->lost_moving_mhz_s, 2500);
    NEAR(cluster_vm_totals(w.c, 0)->delivered[RES_CPU], 20000 - 2500);
    NEAR(cluster_host(w.c, 0)->watts, 100);
    NEAR(cluster_host_totals(w.c, 0)->energy_j, 130 * 10 + 100 * 10);
    sim_release(&w);
}

/* CloudSim: 90 % for the VM, all of it for the source, a tenth for the destination. */
static void test_proportional(void **state)
{
    struct sim w;

    (void)state;
    begin(&w, 1);
    w.s.migration =
        (struct migration_model){.kind = MIGRATION_FIXED, .rate_mb_s = 100, .cpu_mhz_per_mb_s = 20};
    w.s.scheduler = SCHEDULER_PROPORTIONAL;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 900);
    NEAR(cluster_host(w.c, 0)->watts, 110);
    NEAR(cluster_host(w.c, 1)->watts, 101);
    sim_run(&w, 10);
    NEAR(cluster_vm_totals(w.c, 0)->lost_moving_mhz_s, 1000);
    NEAR(cluster_host(w.c, 1)->watts, 110);
    sim_run(&w, 20);
    NEAR(cluster_host_totals(w.c, 0)->overloaded_s, 0);
    NEAR(cluster_host_totals(w.c, 1)->overloaded_s, 10); /* a tenth of what was asked for */
    NEAR(cluster_host_totals(w.c, 1)->active_s, 20);
    sim_release(&w);
}

/* Its memory is taken at the destination as long as it is copied. */
static void test_memory_at_the_destination(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    begin(&w, 1);
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    sim_look(&w, &inv, &s);
    NEAR(inv.hosts[0].is.mem_free_mb, 15384);
    NEAR(inv.hosts[1].is.mem_free_mb, 15384);
    assert_int_equal(inv.n_migrations, 1);
    assert_int_equal(inv.migrations[0].started, EPOCH);
    sim_run(&w, 11);
    sim_look(&w, &inv, &s);
    NEAR(inv.hosts[0].is.mem_free_mb, 16384);
    NEAR(inv.hosts[1].is.mem_free_mb, 15384);
    assert_int_equal(inv.vms[0].is.last_migrated, 0); /* nobody tells */
    sim_release(&w);
}

/* ... so who is there already gets less, the more the VM wants that arrives. */
static void test_memory_at_a_full_destination(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 16384);
    small_host(&w.small, "h2", 10000, 3000);
    small_vm(&w.small, "a", "h1", 1000, 4000)->is.demand[RES_MEM] = 1000;
    small_vm(&w.small, "b", "h2", 1000, 2000);
    for (int i = 0; i < 2; i++)
        w.small.inv.vms[i].is.alloc[RES_MEM].shares = 1000;
    sim_build(&w);
    w.s.vms[0].of[RES_MEM] = (struct workload){.kind = WORKLOAD_SPIKE,
                                               .level = 1000,
                                               .high = 2000,
                                               .from_s = 5,
                                               .until_s = 3000,
                                               .scale = 1,
                                               .max = 4000};
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    NEAR(sim_gets(&w, "b", RES_MEM), 2000);
    sim_run(&w, 6);
    NEAR(sim_gets(&w, "b", RES_MEM), 1500);
    NEAR(sim_gets(&w, "a", RES_MEM), 2000);
    sim_run(&w, 100);
    NEAR(sim_gets(&w, "a", RES_MEM), 1500);
    sim_release(&w);
}

/* Two at a time at h2; the third waits, is not in flight, and can be cancelled. */
static void test_slots_and_cancel(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    char task[4][TASK_NAME_MAX];

    (void)state;
    begin(&w, 4);
    w.small.snap.hosts[1].is.migrations_max = 2;
    sim_begin(&w);
    for (int i = 0; i < 4; i++)
        assert_int_equal(sim_move(&w, (const char *[]){"a", "b", "c", "d"}[i], "h1", "h2", task[i]), 0);
    assert_int_equal(sim_poll(&w, task[1]).state, TASK_RUNNING);
    assert_int_equal(sim_poll(&w, task[2]).state, TASK_QUEUED);
    sim_look(&w, &inv, &s);
    assert_int_equal(inv.n_migrations, 2);
    assert_int_equal(cluster_cancel(w.c, task[0], NULL), 0);
    sim_check(&w);
    assert_int_equal(sim_poll(&w, task[0]).state, TASK_FAILED);
    assert_int_equal(sim_poll(&w, task[0]).why.code, -ECANCELED);
    assert_int_equal(sim_poll(&w, task[2]).state, TASK_RUNNING);
    sim_look(&w, &inv, &s);
    NEAR(inv.hosts[1].is.mem_free_mb, 16384 - 2000); /* of b and c; d has not begun */
    assert_int_equal(cluster_cancel(w.c, task[3], NULL), 0);
    sim_run(&w, 60);
    assert_int_equal(where(&w, "a"), 0);
    assert_int_equal(where(&w, "b"), 1);
    assert_int_equal(where(&w, "c"), 1);
    assert_int_equal(where(&w, "d"), 0);
    assert_int_equal(cluster_vm_totals(w.c, 0)->migrations_failed, 1);
    assert_int_equal(cluster_cancel(w.c, task[1], NULL), 0);
    assert_int_equal(cluster_cancel(w.c, "task-7", NULL), -ENOENT);
    assert_true(sim_poll(&w, "sim-task-99").gone);
    sim_release(&w);
}

/* What waits for a slot at its source takes nothing at its destination, until it begins. */
static void test_memory_of_a_queued_one(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    begin(&w, 2);
    w.small.snap.hosts[0].is.migrations_max = 1;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), 0);
    assert_int_equal(sim_move(&w, "b", "h1", "h2", NULL), 0);
    sim_run(&w, 9);
    sim_look(&w, &inv, &s);
    NEAR(inv.hosts[1].is.mem_free_mb, 16384);
    sim_run(&w, 11);
    sim_look(&w, &inv, &s);
    NEAR(inv.hosts[1].is.mem_free_mb, 15384);
    sim_release(&w);
}

static void test_refused(void **state)
{
    struct sim w;
    struct operation q;

    (void)state;
    begin(&w, 2);
    w.small.snap.vms[0].is.alloc[RES_MEM].reservation = 1000;
    w.small.snap.vms[1].compatible_given = true;
    sim_begin(&w);
    assert_int_equal(sim_move(&w, "b", "h1", "h2", NULL), -EINVAL);
    w.small.snap.hosts[1].capacity[RES_MEM] = 999;
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), -ENOSPC);
    assert_int_equal(sim_do(&w, OPERATION_ENTER_MAINTENANCE, "h3", NULL), 0);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), -EHOSTDOWN);
    q = sim_of_vm(&w, OPERATION_MIGRATE, "a", "h1", "h2");
    q.only_adopt = true;
    w.small.snap.hosts[1].capacity[RES_MEM] = 1000;
    assert_int_equal(sim_start(&w, &q, NULL), -ESRCH);
    assert_int_equal(cluster_migrations_running(w.c), 0);
    sim_release(&w);
}

/* ---- hosts ---- */

static void test_power(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 1);
    sim_begin(&w);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h1", NULL), -EBUSY);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", NULL), -ESTALE);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h2", NULL), -EBUSY); /* one is on its way there */
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h3", task), 0);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ENTERING_STANDBY);
    NEAR(cluster_host(w.c, 2)->watts, 120);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), -EBUSY);
    sim_run(&w, 10);
    assert_int_equal(sim_poll(&w, task).percent, 50);
    sim_run(&w, 100);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    NEAR(cluster_host(w.c, 2)->watts, 5);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.hosts[2].is.state, HOST_STANDBY);
    assert_int_equal(s.hosts[2].is.standby_since, EPOCH + 20);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", task), 0);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", NULL), 0); /* the same */
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h3", NULL), -EBUSY);
    NEAR(cluster_host(w.c, 2)->watts, 150);
    sim_run(&w, 250);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ON);
    const struct host_totals *t = cluster_host_totals(w.c, 2);

    NEAR(t->energy_j, 20 * 120 + 80 * 5 + 100 * 150 + 50 * 100);
    NEAR(t->energy_idle_off_j, 0); /* nobody has wanted anything of it */
    NEAR(t->booting_s, 100);
    NEAR(t->on_s, 70);
    assert_int_equal(t->power_offs, 1);
    assert_int_equal(t->power_ons, 1);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.hosts[2].is.on_since, EPOCH + 200);
    sim_release(&w);
}

/* Nothing between off and on, where booting takes no time. */
static void test_power_in_no_time(void **state)
{
    struct sim w;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 1);
    w.s.hosts[2].boot_s = w.s.hosts[2].sleep_s = 0;
    sim_begin(&w);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h3", task), 0);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_STANDBY);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", task), 0);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ON);
    assert_int_equal(sim_poll(&w, task).percent, 100);
    assert_int_equal(sim_move(&w, "a", "h1", "h3", NULL), 0);
    sim_release(&w);
}

/* The points of SPECpower stand at every tenth, and lines between them. */
static void test_power_curve(void **state)
{
    static const double watts[] = {86, 89.4, 92.6, 96, 99.5, 102, 106, 108, 112, 114, 117};
    struct sim w;

    (void)state;
    begin(&w, 1);
    memcpy(w.s.hosts[0].watts, watts, sizeof watts);
    w.s.hosts[0].n_watts = 11;
    w.s.vms[0].of[RES_CPU].level = 2500;
    sim_begin(&w);
    NEAR(cluster_host(w.c, 0)->watts, (92.6 + 96) / 2);
    sim_release(&w);
    begin(&w, 1);
    memcpy(w.s.hosts[0].watts, watts, sizeof watts);
    w.s.hosts[0].n_watts = 11;
    w.s.vms[0].of[RES_CPU].level = 99999;
    sim_begin(&w);
    NEAR(cluster_host(w.c, 0)->watts, 117);
    sim_release(&w);
}

static void test_maintenance(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 1);
    sim_begin(&w);
    assert_int_equal(sim_do(&w, OPERATION_ENTER_MAINTENANCE, "h1", task), 0);
    sim_run(&w, 500);
    assert_int_equal(cluster_host(w.c, 0)->state, HOST_ENTERING_MAINTENANCE);
    NEAR(sim_gets(&w, "a", RES_CPU), 1000);
    assert_int_equal(sim_move(&w, "a", "h1", "h2", NULL), 0);
    sim_run(&w, 600);
    assert_int_equal(cluster_host(w.c, 0)->state, HOST_MAINTENANCE);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    assert_int_equal(sim_do(&w, OPERATION_EXIT_MAINTENANCE, "h1", NULL), 0);
    sim_run(&w, 700);
    assert_int_equal(cluster_host(w.c, 0)->state, HOST_ON);
    assert_int_equal(sim_do(&w, OPERATION_ENTER_MAINTENANCE, "h2", task), 0);
    assert_int_equal(cluster_cancel(w.c, task, NULL), 0);
    assert_int_equal(cluster_host(w.c, 1)->state, HOST_ON);
    sim_look(&w, &inv, &s);
    assert_true(s.hosts[0].is.on_since == EPOCH + 610);
    assert_true(s.hosts[1].is.on_since < EPOCH + 610); /* it was on all the time */
    sim_release(&w);
}

/* ---- VMs that come and go ---- */

static void test_arrives_starts_leaves(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    struct operation q;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 2);
    w.s.vms[1].arrives_s = 100;
    w.s.vms[1].leaves_s = 1000;
    w.small.snap.vms[1].is.state = VM_OFF;
    w.small.snap.vms[1].host = IX_NONE;
    sim_begin(&w);
    assert_int_equal(cluster_next_arrival(w.c), IX_NONE);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.n_vms, 1);
    sim_run(&w, 200);
    assert_int_equal(cluster_next_arrival(w.c), 1);
    assert_int_equal(cluster_next_arrival(w.c), IX_NONE);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.n_vms, 2);
    assert_int_equal(s.vms[1].is.state, VM_OFF);
    assert_int_equal(s.vms[1].host, IX_NONE);
    q = sim_of_vm(&w, OPERATION_POWER_ON_VM, "b", NULL, "h3");
    assert_int_equal(sim_start(&w, &q, task), 0);
    assert_int_equal(sim_start(&w, &q, NULL), 0);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h3", NULL), -EBUSY);
    sim_run(&w, 210);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    assert_int_equal(where(&w, "b"), 2);
    NEAR(sim_gets(&w, "b", RES_CPU), 1000);
    assert_int_equal(sim_start(&w, &q, NULL), -ESTALE);
    assert_int_equal(sim_move(&w, "b", "h3", "h2", task), 0);
    sim_run(&w, 995);
    assert_int_equal(where(&w, "b"), 1);
    assert_int_equal(sim_move(&w, "b", "h2", "h3", task), 0);
    sim_run(&w, 1001); /* gone in mid-flight */
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    assert_int_equal(where(&w, "b"), IX_NONE);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.n_vms, 1);
    NEAR(cluster_vm_totals(w.c, 1)->wanted[RES_CPU], 900 * 1000); /* while it was to run */
    NEAR(cluster_vm_totals(w.c, 1)->delivered[RES_CPU], 797 * 1000);
    sim_release(&w);
}

/* A host that is to be put out of service waits for a VM that is being started there. */
static void test_start_and_maintenance(void **state)
{
    struct sim w;
    struct operation q;

    (void)state;
    begin(&w, 2);
    w.small.snap.vms[1].is.state = VM_OFF;
    sim_begin(&w);
    q = sim_of_vm(&w, OPERATION_POWER_ON_VM, "b", NULL, "h3");
    assert_int_equal(sim_start(&w, &q, NULL), 0);
    assert_int_equal(sim_do(&w, OPERATION_ENTER_MAINTENANCE, "h3", NULL), 0);
    sim_run(&w, 50);
    assert_int_equal(where(&w, "b"), 2);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ENTERING_MAINTENANCE);
    sim_release(&w);
}

/* A VM that is off changes its registration, at once, and copies nothing. */
static void test_off_moves(void **state)
{
    struct sim w;
    struct operation q;
    char task[TASK_NAME_MAX];
    struct inventory inv;
    struct snapshot s;

    (void)state;
    begin(&w, 2);
    w.small.snap.vms[1].is.state = VM_OFF;
    sim_begin(&w);
    q = sim_of_vm(&w, OPERATION_MIGRATE, "b", "h1", "h3");
    assert_int_equal(sim_start(&w, &q, task), -ESTALE); /* it does not run */
    q.off = true;
    q.from = "h2";
    assert_int_equal(sim_start(&w, &q, task), -ESTALE); /* it is not there */
    q.from = "h1";
    assert_int_equal(sim_start(&w, &q, task), 0);
    assert_int_equal(sim_poll(&w, task).state, TASK_SUCCEEDED);
    assert_int_equal(sim_start(&w, &q, task), -ESTALE); /* it is there */
    sim_look(&w, &inv, &s);
    assert_int_equal(s.vms[1].is.state, VM_OFF);
    assert_string_equal(s.hosts[s.vms[1].host].is.id, "h3");
    assert_int_equal(s.n_migrations, 0);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h3", NULL), 0); /* it keeps no host on */
    q = sim_of_vm(&w, OPERATION_MIGRATE, "a", "h1", "h2");
    q.off = true;
    assert_int_equal(sim_start(&w, &q, task), -ESTALE); /* it is on */
    sim_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_precopy_rounds),
        cmocka_unit_test(test_no_convergence),
        cmocka_unit_test(test_links_are_shared),
        cmocka_unit_test(test_costs_cpu_and_slows_down),
        cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_memory_at_the_destination),
        cmocka_unit_test(test_memory_at_a_full_destination),
        cmocka_unit_test(test_slots_and_cancel),
        cmocka_unit_test(test_memory_of_a_queued_one),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_power_in_no_time),
        cmocka_unit_test(test_power_curve),
        cmocka_unit_test(test_maintenance),
        cmocka_unit_test(test_arrives_starts_leaves),
        cmocka_unit_test(test_start_and_maintenance),
        cmocka_unit_test(test_off_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
