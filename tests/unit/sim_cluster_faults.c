/* Faults of a simulated cluster, by script and by rate; none leads to an impossible state. */
#include "sim_world.h"

#include "base/cleanup.h"
#include "base/rng.h"

#include <errno.h>

/* Three hosts of 10,000 MHz; n VMs of 1,000 MHz and 1,000 MiB on h1. */
static void begin(struct sim *w, int n_vms, const struct scripted_fault *faults, uint32_t n)
{
    sim_init(w);
    for (int i = 0; i < 3; i++)
        small_host(&w->small, (const char *[]){"h1", "h2", "h3"}[i], 10000, 16384);
    for (int i = 0; i < n_vms; i++)
        small_vm(&w->small, arena_printf(&w->small.a, "v%02d", i), "h1", 1000, 1000);
    sim_build(w);
    w->s.faults = (struct scripted_fault *)(uintptr_t)faults;
    w->s.n_faults = n;
}

static uint32_t where(const struct sim *w, uint32_t vm)
{
    return cluster_vm(w->c, vm)->host;
}

static void test_migrations(void **state)
{
    static const struct scripted_fault faults[] = {
        {.kind = SIM_MIGRATION_REFUSED, .host = IX_NONE, .vm = 0},
        {.kind = SIM_MIGRATION_FAILS, .host = IX_NONE, .vm = 0},
        {.kind = SIM_MIGRATION_HANGS, .host = 0, .vm = IX_NONE},
    };
    struct sim w;
    struct operation q;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 2, faults, ELEMENTS(faults));
    sim_begin(&w);
    sim_run(&w, 1);
    q = sim_of_vm(&w, OPERATION_MIGRATE, "v00", "h1", "h2");
    assert_int_equal(cluster_check(w.c, &q, NULL), -EPERM);
    assert_int_equal(cluster_check(w.c, &q, NULL), 0); /* it happens once */
    assert_int_equal(sim_start(&w, &q, task), 0);
    sim_run(&w, 5.9);
    assert_int_equal(sim_poll(&w, task).state, TASK_RUNNING);
    sim_run(&w, 6.1); /* half way */
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    assert_int_equal(sim_poll(&w, task).why.code, -EIO);
    assert_int_equal(where(&w, 0), 0);
    NEAR(cluster_vm_totals(w.c, 0)->moved_mb, 500);
    assert_int_equal(sim_move(&w, "v01", "h1", "h2", task), 0);
    sim_run(&w, 3600);
    assert_int_equal(sim_poll(&w, task).state, TASK_RUNNING);
    assert_int_equal(sim_poll(&w, task).percent, 50);
    assert_int_equal(sim_move(&w, "v00", "h1", "h2", NULL), 0);
    NEAR(sim_next_s(w.c), 3610); /* what hangs takes no bandwidth */
    assert_int_equal(cluster_cancel(w.c, task, NULL), 0);
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    sim_run(&w, 3620);
    assert_int_equal(where(&w, 0), 1);
    assert_int_equal(where(&w, 1), 0);
    assert_int_equal(sim_move(&w, "v01", "h1", "h2", NULL), 0);
    NEAR(sim_next_s(w.c), 3630); /* nothing is left of it */
    sim_release(&w);
}

static void test_wakes(void **state)
{
    static const struct scripted_fault faults[] = {
        {.kind = SIM_WAKE_FAILS, .host = 2, .vm = IX_NONE},
        {.at_s = 200, .kind = SIM_WAKE_SLOW, .host = IX_NONE, .vm = IX_NONE, .factor = 3},
    };
    struct sim w;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 1, faults, ELEMENTS(faults));
    w.small.snap.hosts[2].is.state = HOST_STANDBY;
    sim_begin(&w);
    sim_run(&w, 1);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", task), 0);
    sim_run(&w, 102);
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_STANDBY);
    assert_int_equal(cluster_host_totals(w.c, 2)->failures, 1);
    assert_int_equal(cluster_host_totals(w.c, 2)->power_ons, 0);
    sim_run(&w, 200);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", task), 0);
    sim_run(&w, 499);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_POWERING_ON);
    sim_run(&w, 501);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ON);
    sim_release(&w);
}

/* Its VMs stop at once, and start on the others, the least loaded first; what moved there fails. */
static void test_host_dies(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 100, .kind = SIM_HOST_DIES, .host = 0, .vm = IX_NONE, .for_s = 1000}};
    struct sim w;
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 4, faults, ELEMENTS(faults));
    sim_begin(&w);
    sim_run(&w, 95);
    assert_int_equal(sim_move(&w, "v00", "h1", "h2", task), 0);
    sim_run(&w, 100);
    assert_true(cluster_host(w.c, 0)->dead);
    NEAR(cluster_host(w.c, 0)->watts, 0);
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(where(&w, i), IX_NONE);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.hosts[0].is.state, HOST_DISCONNECTED);
    assert_int_equal(s.vms[0].is.state, VM_ON); /* nobody can tell */
    assert_true(s.vms[0].is.demand_unknown);
    assert_int_equal(s.vms[0].host, 0);
    sim_run(&w, 170); /* after 60 s, and what starting takes */
    uint32_t on[3] = {0};

    for (uint32_t i = 0; i < 4; i++)
        on[where(&w, i)]++;
    assert_int_equal(on[0], 0);
    assert_int_equal(on[1], 2);
    assert_int_equal(on[2], 2);
    NEAR(cluster_vm_totals(w.c, 0)->down_s, 63);
    sim_look(&w, &inv, &s);
    assert_int_equal(s.vms[0].is.state, VM_ON);
    assert_true(s.vms[0].host != 0);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h1", NULL), -ESTALE);
    sim_run(&w, 1100);
    assert_false(cluster_host(w.c, 0)->dead);
    assert_int_equal(cluster_host(w.c, 0)->state, HOST_ON);
    NEAR(cluster_host_totals(w.c, 0)->on_s, 100);
    sim_release(&w);
}

/* Whichever comes along: one that is on. */
static void test_any_host_dies(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 10, .kind = SIM_HOST_DIES, .host = IX_NONE, .vm = IX_NONE, .for_s = 50}};

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct sim w;

        begin(&w, 1, faults, ELEMENTS(faults));
        w.s.seed = seed;
        w.small.snap.hosts[1].is.state = w.small.snap.hosts[2].is.state = HOST_STANDBY;
        sim_begin(&w);
        sim_run(&w, 11);
        assert_true(cluster_host(w.c, 0)->dead);
        sim_release(&w);
    }
}

/* Nobody else has room for what they reserve, or nothing is restarted: they wait for their host. */
static void test_host_dies_and_nobody_helps(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 100, .kind = SIM_HOST_DIES, .host = 0, .vm = IX_NONE, .for_s = 1000}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct sim w;

        begin(&w, 1, faults, ELEMENTS(faults));
        if (k == 0)
            w.s.restart_s = INFINITY;
        else
            w.small.snap.vms[0].is.alloc[RES_CPU].reservation = 9000;
        w.small.snap.hosts[1].capacity[RES_CPU] = w.small.snap.hosts[2].capacity[RES_CPU] = 8000;
        sim_begin(&w);
        sim_run(&w, 1099);
        assert_int_equal(where(&w, 0), IX_NONE);
        sim_run(&w, 1104);
        assert_int_equal(where(&w, 0), 0);
        NEAR(cluster_vm_totals(w.c, 0)->down_s, 1003);
        sim_release(&w);
    }
}

/* Whatever it was about to do is over. */
static void test_host_dies_while_it_boots(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 50, .kind = SIM_HOST_DIES, .host = 2, .vm = IX_NONE, .for_s = 300}};
    struct sim w;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 1, faults, ELEMENTS(faults));
    w.small.snap.hosts[2].is.state = HOST_STANDBY;
    sim_begin(&w);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", task), 0);
    sim_run(&w, 60);
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    sim_run(&w, 150);
    assert_true(cluster_host(w.c, 2)->dead);
    assert_int_equal(cluster_host_totals(w.c, 2)->power_ons, 0);
    sim_run(&w, 351);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ON);
    sim_release(&w);
}

/* Who has taken it out of service is not done with it because it was without power for a while. */
static void test_host_dies_in_maintenance(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 50, .kind = SIM_HOST_DIES, .host = 2, .vm = IX_NONE, .for_s = 300},
        {.at_s = 500, .kind = SIM_HOST_DIES, .host = 2, .vm = IX_NONE, .for_s = 300}};
    struct sim w;

    (void)state;
    begin(&w, 1, faults, ELEMENTS(faults));
    w.small.snap.hosts[2].is.state = HOST_MAINTENANCE;
    sim_begin(&w);
    sim_run(&w, 351);
    NEAR(cluster_host_totals(w.c, 2)->on_s, 0);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_MAINTENANCE);
    assert_int_equal(sim_do(&w, OPERATION_EXIT_MAINTENANCE, "h3", NULL), 0);
    sim_run(&w, 801);
    assert_int_equal(cluster_host(w.c, 2)->state, HOST_ON);
    sim_release(&w);
}

/* What the snapshot leaves half done, and a host that it does not see. */
static void test_states_at_the_beginning(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    for (int i = 0; i < 5; i++)
        small_host(&w.small, (const char *[]){"h1", "h2", "h3", "h4", "h5"}[i], 10000, 16384);
    w.small.inv.hosts[0].is.state = HOST_DISCONNECTED;
    w.small.inv.hosts[1].is.state = HOST_POWERING_ON;
    w.small.inv.hosts[2].is.state = HOST_ENTERING_STANDBY;
    w.small.inv.hosts[3].is.state = HOST_ENTERING_MAINTENANCE;
    small_vm(&w.small, "a", "h1", 1000, 1000);
    small_vm(&w.small, "b", "h3", 1000, 1000);
    sim_build(&w);
    sim_begin(&w);
    sim_check(&w);
    assert_int_equal(where(&w, 0), IX_NONE);
    assert_int_equal(where(&w, 1), 2);
    assert_int_equal(cluster_host(w.c, 3)->state, HOST_MAINTENANCE);
    sim_run(&w, 99);
    assert_int_equal(cluster_host(w.c, 1)->state, HOST_POWERING_ON);
    assert_int_equal(where(&w, 0), 4); /* restarted on the host that has least to do */
    sim_run(&w, 101);
    assert_int_equal(cluster_host(w.c, 1)->state, HOST_ON);
    sim_release(&w);
}

/* A host that VMs are being started on dies, too. */
static void test_starts_are_lost(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 1, .kind = SIM_HOST_DIES, .host = 2, .vm = IX_NONE, .for_s = 100},
        {.at_s = 200, .kind = SIM_HOST_DIES, .host = 0, .vm = IX_NONE, .for_s = INFINITY},
        {.at_s = 261, .kind = SIM_HOST_DIES, .host = 1, .vm = IX_NONE, .for_s = INFINITY}};
    struct sim w;
    struct operation q;
    char task[TASK_NAME_MAX];

    (void)state;
    begin(&w, 2, faults, ELEMENTS(faults));
    w.small.snap.vms[1].is.state = VM_OFF;
    sim_begin(&w);
    q = sim_of_vm(&w, OPERATION_POWER_ON_VM, "v01", NULL, "h3");
    assert_int_equal(sim_start(&w, &q, task), 0);
    sim_run(&w, 150);
    assert_int_equal(sim_poll(&w, task).state, TASK_FAILED);
    assert_int_equal(where(&w, 1), IX_NONE);
    q = sim_of_vm(&w, OPERATION_POWER_ON_VM, "v01", NULL, "h1");
    assert_int_equal(sim_start(&w, &q, task), 0);
    sim_run(&w, 250); /* v00 and v01 are down with h1, and begin to start again at 260 */
    sim_run(&w, 320);
    assert_int_equal(where(&w, 0), 2);
    assert_int_equal(where(&w, 1), 2);
    sim_release(&w);
}

static void test_samples(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 100, .kind = SIM_SAMPLES_STALE, .host = IX_NONE, .vm = 0, .for_s = 600},
        {.at_s = 100, .kind = SIM_SAMPLES_GARBAGE, .host = IX_NONE, .vm = 1, .for_s = 600},
        {.at_s = 710, .kind = SIM_SAMPLES_STALE, .host = IX_NONE, .vm = IX_NONE, .for_s = 600}};
    struct sim w;
    struct inventory inv;
    int old = 0;

    (void)state;
    begin(&w, 3, faults, ELEMENTS(faults));
    w.s.vms[0].of[RES_CPU] = (struct workload){.kind = WORKLOAD_SPIKE,
                                               .level = 1000,
                                               .high = 3000,
                                               .from_s = 90,
                                               .until_s = 9999,
                                               .scale = 1,
                                               .max = 1e4};
    sim_begin(&w);
    for (double t = 60; t < 710; t += 60) {
        bool wrong = t >= 100 && t < 700;

        sim_run(&w, t);
        assert_int_equal(cluster_collect(w.c, &w.small.a, &inv, NULL), 0);
        const struct vm_sample *m = &inv.vms[0].sample;

        assert_int_equal(m->measured, EPOCH + (wrong ? 60 : (instant_s)t));
        NEAR(m->cpu_used_mhz, wrong || t < 100 ? 1000 : 3000);
        m = &inv.vms[1].sample;
        bool plausible = m->cpu_used_mhz >= 0 && m->cpu_used_mhz <= 10000 &&
                         m->cpu_ready_ms <= m->interval_ms && m->mem_active_mb <= 1000;

        assert_int_equal(plausible, !wrong);
        NEAR(inv.vms[2].sample.cpu_used_mhz, 1000);
        old += inv.vms[0].sample.measured < EPOCH + t || inv.vms[1].sample.measured < EPOCH + t ||
               inv.vms[2].sample.measured < EPOCH + t;
    }
    sim_run(&w, 780);
    assert_int_equal(cluster_collect(w.c, &w.small.a, &inv, NULL), 0);
    for (int i = 0; i < 3; i++)
        old += inv.vms[i].sample.measured < EPOCH + 780;
    assert_int_equal(old, 10 + 1); /* v00 ten times, then whichever comes along */
    sim_release(&w);
}

static void test_nobody_answers(void **state)
{
    static const struct scripted_fault faults[] = {
        {.at_s = 10, .kind = SIM_SOURCE_DEAF, .host = IX_NONE, .vm = IX_NONE, .for_s = 10},
        {.at_s = 30, .kind = SIM_ACTUATOR_DEAF, .host = IX_NONE, .vm = IX_NONE, .for_s = 10},
        {.at_s = 50, .kind = SIM_ANSWER_LOST, .host = IX_NONE, .vm = IX_NONE}};
    struct sim w;
    struct inventory inv;
    char task[TASK_NAME_MAX];
    struct operation q;

    (void)state;
    begin(&w, 2, faults, ELEMENTS(faults));
    sim_begin(&w);
    sim_run(&w, 15);
    assert_int_equal(cluster_collect(w.c, &w.small.a, &inv, NULL), -ECONNREFUSED);
    sim_run(&w, 35);
    assert_int_equal(cluster_collect(w.c, &w.small.a, &inv, NULL), 0);
    assert_int_equal(sim_move(&w, "v00", "h1", "h2", NULL), -ECONNREFUSED);
    sim_run(&w, 50);
    q = sim_of_vm(&w, OPERATION_MIGRATE, "v00", "h1", "h2");
    assert_int_equal(sim_start(&w, &q, task), -ETIMEDOUT); /* but it has begun */
    assert_int_equal(cluster_migrations_running(w.c), 1);
    q.only_adopt = true;
    assert_int_equal(sim_start(&w, &q, task), 0);
    assert_int_equal(sim_poll(&w, task).state, TASK_RUNNING);
    sim_release(&w);
}

/* ---- by rate ---- */

static unsigned counted_faults(double rate, enum sim_fault kind, uint64_t seed)
{
    struct sim w;
    unsigned n = 0;
    char task[TASK_NAME_MAX];

    begin(&w, 20, NULL, 0);
    w.s.seed = seed;
    w.s.rates[kind].rate = rate;
    sim_begin(&w);
    for (int i = 0; i < 400; i++) {
        const char *vm = w.s.initial.vms[i % 20].is.id;
        uint32_t host = where(&w, (uint32_t)i % 20);

        int r = sim_move(&w, vm, host == 0 ? "h1" : "h2", host == 0 ? "h2" : "h1", task);
        cluster_advance(w.c, 100 * (i + 1));
        n += r < 0 || sim_poll(&w, task).state == TASK_FAILED;
    }
    sim_release(&w);
    return n;
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(counted_faults(0, SIM_MIGRATION_FAILS, 1), 0);
    assert_int_equal(counted_faults(1, SIM_MIGRATION_FAILS, 1), 400);
    assert_in_range(counted_faults(0.1, SIM_MIGRATION_FAILS, 1), 20, 65);
    assert_in_range(counted_faults(0.1, SIM_MIGRATION_REFUSED, 1), 20, 65);
    assert_in_range(counted_faults(0.1, SIM_ANSWER_LOST, 1), 20, 65);
    assert_int_equal(counted_faults(0.1, SIM_MIGRATION_FAILS, 5),
                     counted_faults(0.1, SIM_MIGRATION_FAILS, 5));
}

static double died(uint32_t vms_that_move)
{
    struct sim w;
    double sum = 0;

    begin(&w, 20, NULL, 0);
    w.s.rates[SIM_HOST_DIES] = (struct fault_rate){.rate = 2, .for_s = 600};
    w.s.rates[SIM_MIGRATION_FAILS].rate = 0.3;
    sim_begin(&w);
    for (uint32_t i = 0; i < vms_that_move; i++)
        (void)sim_move(&w, w.s.initial.vms[i].is.id, "h1", "h2", NULL);
    for (double t = 0; t < 10 * 86400.0; t += 3600)
        sim_run(&w, t);
    for (uint32_t h = 0; h < 3; h++)
        sum += 10 * 86400.0 - 3600 - cluster_host_totals(w.c, h)->on_s;
    sim_release(&w);
    return sum / 600;
}

/* About twice a day each, for ten days; the same ones, whatever else was done. */
static void test_hosts_die_by_rate(void **state)
{
    (void)state;
    struct sim w;

    assert_in_range(died(0), 35, 85);
    NEAR(died(0), died(7));
    begin(&w, 1, NULL, 0);
    w.s.rates[SIM_HOST_DIES] = (struct fault_rate){.rate = 2, .for_s = 600};
    sim_begin(&w);
    sim_run(&w, sim_next_s(w.c));
    assert_int_equal(cluster_host(w.c, 0)->dead + cluster_host(w.c, 1)->dead + cluster_host(w.c, 2)->dead, 1);
    sim_release(&w);
}

/* ---- everything at once ---- */

#define STORM_HOSTS 6
#define STORM_VMS 40

static void begin_storm(struct sim *w, uint64_t seed)
{
    struct rng r = {.state = seed};

    sim_init(w);
    for (int i = 0; i < STORM_HOSTS; i++)
        small_host(&w->small, arena_printf(&w->small.a, "h%d", i), 8000, 32768)->is.cores = 4;
    small_pool(&w->small, "p", NULL)->is.alloc[RES_CPU].limit = seed % 2 ? 12000 : NO_LIMIT;
    small_pool(&w->small, "q", "p");
    for (int i = 0; i < STORM_VMS; i++) {
        struct seen_vm *v = small_vm(&w->small, arena_printf(&w->small.a, "v%02d", i),
                                     arena_printf(&w->small.a, "h%d", i % (STORM_HOSTS - 1)), 0,
                                     1024 * (1 + rng_below(&r, 6)));
        v->pool = (const char *[]){NULL, "p", "q"}[rng_below(&r, 3)];
        v->is.vcpus = 1 + rng_below(&r, 3);
        v->is.alloc[RES_MEM].reservation = rng_below(&r, 3) * 256;
    }
    sim_build(w);
    w->s.seed = seed;
    w->s.swap_slowdown = 1;
    w->s.migration.cpu_mhz_per_mb_s = 3;
    w->s.migration.slowdown = 0.1;
    w->s.scheduler = seed % 4 == 3 ? SCHEDULER_PROPORTIONAL : SCHEDULER_SHARES;
    for (int k = 0; k < sim_fault_count; k++)
        w->s.rates[k] = (struct fault_rate){.rate = 0.1, .for_s = 500, .factor = 3};
    w->s.rates[SIM_HOST_DIES].rate = 20;
    for (uint32_t i = 0; i < STORM_VMS; i++) {
        struct vm_model *m = &w->s.vms[i];

        m->dirty_mb_s = rng_below(&r, 200);
        m->arrives_s = i % 5 == 4 ? 1 + rng_below(&r, 5000) : 0;
        m->leaves_s = i % 7 == 6 ? 6000.0 + rng_below(&r, 5000) : (double)INFINITY;
        m->of[RES_CPU] = (struct workload){.kind = WORKLOAD_UNIFORM,
                                           .seed = seed * 1000 + i,
                                           .high = 1500,
                                           .high_spread = 1500,
                                           .high_s = 600,
                                           .step_s = 61,
                                           .scale = 1,
                                           .max = 6000};
        m->of[RES_MEM] = (struct workload){.kind = WORKLOAD_UNIFORM,
                                           .seed = seed * 1000 + i + 500,
                                           .high = 3000,
                                           .high_spread = 3000,
                                           .high_s = 600,
                                           .step_s = 300,
                                           .scale = 1,
                                           .max = 8192};
        if (m->arrives_s > 0)
            w->small.snap.vms[i].is.state = VM_OFF;
    }
}

/* Anything at all is asked for; most of it makes no sense. */
static void ask_anything(struct sim *w, struct rng *r)
{
    const struct snapshot *s = &w->s.initial;
    uint32_t vm = rng_below(r, s->n_vms), to = rng_below(r, s->n_hosts);
    uint32_t from = where(w, vm);
    const struct host *h = &s->hosts[to];
    char task[TASK_NAME_MAX];
    struct operation q;

    (void)cluster_next_arrival(w->c);
    if (rng_below(r, 4) > 0) {
        q = sim_of_vm(w, from == IX_NONE ? OPERATION_POWER_ON_VM : OPERATION_MIGRATE, s->vms[vm].is.id,
                      from == IX_NONE ? NULL : s->hosts[from].is.id, h->is.id);
    } else {
        static const enum operation_kind operations[] = {
            OPERATION_ENTER_MAINTENANCE, OPERATION_EXIT_MAINTENANCE, OPERATION_STANDBY, OPERATION_WAKE};

        q = sim_of_host(w, operations[rng_below(r, 4)], h->is.id);
    }
    if (sim_start(w, &q, task) == 0 && rng_below(r, 8) == 0)
        (void)cluster_cancel(w->c, task, NULL);
    if (rng_below(r, 10) == 0) {
        struct pool_setting set = {.pool = rng_below(r, 2) ? "p" : "q", .nothing = rng_below(r, 3) == 0};

        for (int k = 0; k < RES_COUNT; k++)
            set.alloc[k] = (struct alloc){.reservation = rng_below(r, 2000),
                                          .limit = 2000 + rng_below(r, 9000),
                                          .shares = 1 + rng_below(r, 5000)};
        const struct pool_settings z = {.host = h->is.id, .settings = &set, .n_settings = 1};

        (void)cluster_set_pools(w->c, &z, NULL);
    }
}

/* A number that is another one whenever anything is. */
static double storm(uint64_t seed)
{
    struct rng r = {.state = seed + 1};
    struct sim w;
    double sum = 0;

    begin_storm(&w, seed);
    sim_begin(&w);
    for (int i = 0; i < 1500; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct inventory inv;
        struct snapshot snap;
        struct err err = {0};

        sim_run(&w, 10.0 * i + rng_unit(&r));
        ask_anything(&w, &r);
        if (cluster_collect(w.c, &a, &inv, NULL) == 0 && seed % 2 == 0 &&
            snapshot_build(&inv, &a, &snap, &err) < 0 && !strstr(err.text, "demand"))
            fail_msg("%s", err.text);
    }
    for (uint32_t i = 0; i < STORM_HOSTS; i++) {
        const struct host_totals *t = cluster_host_totals(w.c, i);

        assert_true(t->delivered[RES_CPU] <= t->available[RES_CPU] * (1 + 1e-6));
        sum += t->energy_j + t->delivered[RES_CPU];
    }
    for (uint32_t i = 0; i < STORM_VMS; i++) {
        const struct vm_totals *t = cluster_vm_totals(w.c, i);

        for (int k = 0; k < RES_COUNT; k++)
            assert_true(t->delivered[k] <= t->wanted[k] * (1 + 1e-6));
        sum += t->moved_mb + t->down_s + t->delivered[RES_MEM];
    }
    sim_release(&w);
    return sum;
}

static void test_storms(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= rounds(12); seed++) {
        double once = storm(seed);

        assert_true(once > 0);
        if (seed <= 4)
            assert_true(once == storm(seed)); /* to the last bit */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_migrations),
        cmocka_unit_test(test_wakes),
        cmocka_unit_test(test_host_dies),
        cmocka_unit_test(test_any_host_dies),
        cmocka_unit_test(test_host_dies_and_nobody_helps),
        cmocka_unit_test(test_host_dies_while_it_boots),
        cmocka_unit_test(test_host_dies_in_maintenance),
        cmocka_unit_test(test_states_at_the_beginning),
        cmocka_unit_test(test_starts_are_lost),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_nobody_answers),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_hosts_die_by_rate),
        cmocka_unit_test(test_storms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
