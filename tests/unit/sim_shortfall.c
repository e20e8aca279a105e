/* What VMs lack and what hosts do: shortfalls within limits, hot hosts, sleeps. */
#include "sim_scenario_made.h"
#include "sim_world.h"

#include "sim/run/simulate.h"

#include <math.h>

#define assert_near(a, b) assert_float_equal((a), (b), 1e-6)

static struct simulation run(const struct scenario *s, struct arena *a)
{
    struct simulation ret;
    struct err err = {0};

    if (simulate(s, NULL, a, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret;
}

/* A VM's own limit is no shortfall: nothing is missing, and no host could have delivered more. */
static void test_limit_is_no_shortfall(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 8, 2000, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 8; i++)
        s.initial.vms[i].is.alloc[RES_CPU].limit = 1000;
    struct simulation sim = run(&s, &a);
    const struct metrics_of_run *m = &sim.metrics;

    assert_near(m->payload_cpu, 40);
    assert_near(m->payload_cpu_bound, 40);
    assert_near(m->unmet_mhz_s, 0);
    assert_near(m->slatah, 0);
    assert_near(m->slav, 0);
    assert_near(m->happiness_mean, 100);
    assert_near(m->host_above_90_s, 0); /* 8000 of 10,000 MHz */
    assert_int_equal(sim.n_shortfalls, 0);
    arena_release(&a);
}

/* The VMs that lack most: by the part of what they wanted, the worst first, ten at most. */
static void test_shortfalls(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 14, 1000, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 14; i++) /* 14,000 MHz of the 10,000; the later, the more it gets */
        s.initial.vms[i].is.alloc[RES_CPU].shares = 100 + i;
    struct simulation sim = run(&s, &a);
    double sum = 0;

    assert_int_equal(sim.n_shortfalls, SHORTFALLS_MAX);
    for (uint32_t i = 0; i < SHORTFALLS_MAX; i++) {
        const struct vm_shortfall *v = &sim.shortfalls[i];
        assert_string_equal(v->vm, s.initial.vms[i].is.name);
        assert_true(i == 0 || v->cpu_percent < v[-1].cpu_percent);
        assert_near(v->cpu_mhz_s, v->cpu_percent / 100 * 1000 * 3600);
        assert_true(v->entitled_percent >= 0 && v->entitled_percent <= v->cpu_percent + 1e-6);
        assert_near(v->mem_percent, 0);
        sum += v->cpu_mhz_s;
    }
    assert_true(sum < sim.metrics.unmet_mhz_s);
    assert_near(sim.metrics.host_above_90_s, 3600);
    arena_release(&a);
}

static struct workload spike(double level, double high, double from_s, double until_s)
{
    return (struct workload){.kind = WORKLOAD_SPIKE,
                             .level = level,
                             .high = high,
                             .from_s = from_s,
                             .until_s = until_s,
                             .scale = 1,
                             .max = 1e9};
}

/* A second counts once, however many hosts are hot, for CPU or memory; a limit makes nothing hot. */
static void test_hot_time(void **state)
{
    struct sim w;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 10240);
    small_host(&w.small, "h2", 10000, 10240);
    small_host(&w.small, "h3", 10000, 10240);
    small_vm(&w.small, "a", "h1", 9000, 1024);
    small_vm(&w.small, "b", "h2", 100, 10000)->is.vcpus = 1;
    small_vm(&w.small, "c", "h3", 9900, 1024)->is.alloc[RES_CPU].limit = 5000;
    sim_build(&w);
    w.s.vms[sim_vm(&w, "a")].of[RES_CPU] = spike(9000, 9100, 100, 160);
    w.s.vms[sim_vm(&w, "b")].of[RES_MEM] = spike(1000, 9500, 150, 200);
    sim_begin(&w);
    sim_run(&w, 120);
    NEAR(cluster_hot_s(w.c), 20);
    sim_run(&w, 1000);
    NEAR(cluster_hot_s(w.c), 100);
    cluster_reset_totals(w.c);
    NEAR(cluster_hot_s(w.c), 0);
    sim_release(&w);
}

/* From standby until its wake begins, whatever the boot takes; who sleeps still is not counted. */
static void test_sleeps(void **state)
{
    struct sim w;
    size_t n;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 4096);
    small_host(&w.small, "h2", 10000, 4096);
    small_host(&w.small, "h3", 10000, 4096)->is.state = HOST_STANDBY;
    sim_build(&w);
    sim_begin(&w);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h1", NULL), 0);
    assert_int_equal(sim_do(&w, OPERATION_STANDBY, "h2", NULL), 0);
    sim_run(&w, 500); /* asleep after 20 s */
    (void)cluster_sleeps_s(w.c, &n);
    assert_int_equal(n, 0);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h3", NULL), 0); /* since when it slept is not known */
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h2", NULL), 0);
    sim_run(&w, 4000);
    assert_int_equal(sim_do(&w, OPERATION_WAKE, "h1", NULL), 0);
    sim_run(&w, 5000);
    const double *sleeps = cluster_sleeps_s(w.c, &n);
    assert_int_equal(n, 2);
    NEAR(sleeps[0], 480);
    NEAR(sleeps[1], 3980);
    sim_release(&w);
}

/* CPU falls with the part of the working set that is missing, never rises; the hypervisor's own part is
 * missing first, and costs nothing. */
static void test_memory_slows(void **state)
{
    double before = INFINITY;

    (void)state;
    for (double host_mb = 2300; host_mb > 100; host_mb -= 100) {
        struct sim w;

        sim_init(&w);
        small_host(&w.small, "h1", 10000, host_mb);
        small_vm(&w.small, "a", "h1", 4000, 2000)->is.overhead_mb = 200;
        sim_build(&w);
        w.s.swap_slowdown = 1;
        sim_begin(&w);
        double cpu = sim_gets(&w, "a", RES_CPU);
        NEAR(cpu, 4000 * fmin(1, host_mb / 2000));
        assert_true(cpu <= before);
        before = cpu;
        sim_release(&w);
    }
}

/* What a VM cannot do for want of memory is missing CPU, if the host is short; its own limit is no shortfall,
 * of memory and of the CPU that it cannot use for it. */
static void test_memory_limit_is_no_shortfall(void **state)
{
    static const struct {
        double host_mb, limit_mb, due_mhz, gets_mhz;
    } cases[] = {
        {4096, NO_LIMIT, 4000, 4000},
        {1000, NO_LIMIT, 4000, 2000},
        {4096, 1000, 2000, 2000},
        {500, 1000, 2000, 1000},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct sim w;

        sim_init(&w);
        small_host(&w.small, "h1", 10000, cases[i].host_mb);
        small_vm(&w.small, "a", "h1", 4000, 2000)->is.alloc[RES_MEM].limit = cases[i].limit_mb;
        sim_build(&w);
        w.s.swap_slowdown = 1;
        sim_begin(&w);
        sim_run(&w, 100);
        NEAR(cluster_vm(w.c, 0)->gets[RES_CPU], cases[i].gets_mhz);
        NEAR(cluster_vm_totals(w.c, 0)->wanted[RES_CPU], 100 * cases[i].due_mhz);
        NEAR(cluster_vm_totals(w.c, 0)->wanted[RES_MEM], 100 * fmin(2000, cases[i].limit_mb));
        sim_release(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_no_shortfall),
        cmocka_unit_test(test_shortfalls),
        cmocka_unit_test(test_hot_time),
        cmocka_unit_test(test_sleeps),
        cmocka_unit_test(test_memory_slows),
        cmocka_unit_test(test_memory_limit_is_no_shortfall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
