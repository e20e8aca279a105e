/* The run loop: figures that can be computed by hand, and the time of each step. */
#include "sim_scenario_made.h"
#include "unit.h"

#include "engine/engine.h"
#include "sim/cluster/cluster.h"
#include "sim/run/simulate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct simulation run(const struct scenario *s, const struct simulate_options *o, struct arena *a)
{
    struct simulation ret;
    struct err err = {0};

    if (simulate(s, o, a, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret;
}

#define assert_near(a, b) assert_float_equal((a), (b), 1e-6)

/* ---- figures --------------------------------------------------------------------------------- */

/* Eight VMs that want 1000 MHz each on one of two hosts, and nobody does anything about it. */
static void test_nobody_decides(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 8, 1000, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 2; i++) {
        s.hosts[i].n_watts = 3;
        memcpy(s.hosts[i].watts, (double[]){100, 180, 200}, 3 * sizeof(double));
    }
    const struct metrics_of_run m = run(&s, NULL, &a).metrics;

    assert_near(m.payload_cpu, 40);
    assert_near(m.payload_cpu_bound, 40);
    assert_near(m.payload_mem, 100 * 8 * 768 / (2 * 16384.0));
    assert_near(m.imbalance_mean, 0.5 * 0.4 + 0.5 * 0.1875);
    assert_near(m.imbalance_final, m.imbalance_mean);
    assert_near(m.imbalance_max, m.imbalance_mean);
    assert_true(isnan(m.time_to_target_s) && isnan(m.time_below_0_1_s));
    assert_near(m.kwh, (192 + 100) / 1000.0);    /* at 80 % and idle */
    assert_near(m.kwh_all_on, 2 * 164 / 1000.0); /* at 40 % both */
    assert_near(m.kwh_idle_off, 192 / 1000.0);
    assert_near(m.happiness_mean, 100);
    assert_near(m.happy_share, 100);
    assert_near(m.hosts_on_mean, 2);
    assert_near(m.slatah, 0);
    assert_near(m.migrations, 0);
    assert_near(m.passes, 0);
    arena_release(&a);
}

/* They want 2000 MHz each: 16,000 of the 10,000 that the host has, of 20,000 that there are. */
static void test_overload(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 8, 2000, true, &a);
    s.ballast = false;
    const struct metrics_of_run m = run(&s, NULL, &a).metrics;

    assert_near(m.payload_cpu, 50);
    assert_near(m.payload_cpu_bound, 80);
    assert_near(m.happiness_mean, 62.5);
    assert_near(m.happy_share, 0);
    assert_near(m.unmet_mhz_s / 3600, 6000);
    assert_near(m.slatah, 100); /* of the one host that is active */
    assert_near(m.slav, 37.5);
    assert_near(m.pdm, 0);
    arena_release(&a);
}

/* The hypervisor's own part of the CPU is no work: with all hosts on, and all alike, kwh_all_on is kwh. */
static void test_reserved_draws_nothing(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 8, 1000, false, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 2; i++) {
        s.initial.hosts[i].is.reserved[RES_CPU] = 5000;
        s.initial.hosts[i].capacity[RES_CPU] = SIM_HOST_MHZ - 5000;
    }
    const struct metrics_of_run m = run(&s, NULL, &a).metrics;

    assert_near(m.kwh, 2 * 140 / 1000.0);
    assert_near(m.kwh_all_on, m.kwh);
    arena_release(&a);
}

static void test_ballast_helps(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true, .host_series = true};

    (void)state;
    sim_scenario_make(&s, 2, 8, 2000, true, &a);
    struct simulation sim = run(&s, &o, &a);
    const struct metrics_of_run *m = &sim.metrics;

    assert_true(m->payload_cpu > 75 && m->payload_cpu <= 80);
    assert_true(m->happiness_mean > 95);
    assert_true(m->migrations >= 3 && m->migrations <= 5);
    assert_true(m->imbalance_final < 0.1);
    assert_true(m->time_to_target_s <= 300);
    assert_true(m->gb_moved >= m->migrations * 0.7);
    assert_int_equal(sim.n_series, 61); /* both ends */
    assert_near(sim.series[0].t_s, 0);
    assert_near(sim.series[60].t_s, 3600);
    assert_near(sim.series[0].host_load[RES_CPU][0], 1.6); /* before anybody did anything about it */
    assert_near(sim.series[0].load_max[RES_CPU], 1.6);
    assert_int_equal(sim.series[60].migrations, m->migrations);
    assert_near(sim.series[60].kwh, m->kwh);
    assert_near(m->passes, 12);
    assert_int_equal(sim.n_passes, 12);
    assert_near(sim.passes[0].t_s, 0); /* the first one at once */
    assert_int_equal(sim.passes[0].begun, sim.passes[0].recommended);
    assert_near(sim.passes[1].t_s, 300);
    arena_release(&a);
}

/* Half of the VMs are of one class and half of another. */
static void test_classes(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 2, 8, 2000, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 8; i++)
        s.vms[i].share_class = i % 2 ? "high" : "low";
    s.vms[0].share_class = NULL; /* of none */
    struct simulation sim = run(&s, NULL, &a);

    assert_int_equal(sim.n_pools, 2);
    assert_string_equal(sim.pools[0].name, "high");
    assert_int_equal(sim.pools[0].vms, 4);
    assert_int_equal(sim.pools[1].vms, 3);
    assert_near(sim.pools[0].payload[RES_CPU], 25);
    assert_near(sim.pools[0].wanted[RES_CPU], 4 * 2000 * 3600.0);
    assert_near(sim.pools[1].happiness_mean, 62.5);
    assert_near(sim.pools[1].happiness_least, 62.5);
    arena_release(&a);
}

/* The load is there in the second half only, and only that is measured. */
static void test_measured_from(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true};

    (void)state;
    sim_scenario_make(&s, 2, 8, 0, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 8; i++)
        s.vms[i].of[RES_CPU] = (struct workload){.kind = WORKLOAD_SPIKE,
                                                 .level = 0,
                                                 .high = 1000,
                                                 .from_s = 1800,
                                                 .until_s = 7200,
                                                 .scale = 1,
                                                 .max = SIM_CORE_MHZ};
    assert_near(run(&s, NULL, &a).metrics.payload_cpu, 20);
    s.measure_from_s = 1800;
    struct simulation sim = run(&s, &o, &a);

    assert_near(sim.metrics.payload_cpu, 40);
    assert_near(sim.duration_s, 1800);
    assert_near(sim.metrics.kwh, (180 + 100) / 2000.0);
    assert_int_equal(sim.n_series, 61);            /* the series shows what was before */
    assert_near(sim.series[30].kwh, 200 / 2000.0); /* and counts on */
    assert_near(sim.series[60].kwh, 480 / 2000.0);
    arena_release(&a);
}

/* The time that counts may begin between two samples; all of it is counted. */
static void test_measured_from_between(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true};

    (void)state;
    sim_scenario_make(&s, 2, 8, 1000, true, &a);
    s.ballast = false;
    s.sample_s = 3600;
    s.measure_from_s = 900;
    struct simulation sim = run(&s, &o, &a);
    const struct metrics_of_run *m = &sim.metrics;

    assert_near(m->payload_cpu, 40);
    assert_near(m->payload_cpu_bound, 40);
    assert_near(m->payload_mem_bound, m->payload_mem);
    assert_near(m->kwh_all_on, 0.75 * 2 * 140 / 1000);
    assert_near(m->happiness_mean, 100);
    assert_near(m->imbalance_mean, m->imbalance_final);
    assert_int_equal(sim.n_series, 3); /* both ends, and where it begins */
    assert_near(sim.series[1].t_s, 900);
    arena_release(&a);
}

/* A series that no machine could keep is refused before anything runs. */
static void test_series_too_long(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct simulation sim;
    struct err err = {0};
    const struct simulate_options o = {.series = true, .host_series = true};

    (void)state;
    sim_scenario_make(&s, 100, 0, 0, false, &a);
    s.duration_s = 1e7;
    s.sample_s = 1;
    assert_int_equal(simulate(&s, &o, &a, &sim, &err), -EFBIG);
    assert_non_null(strstr(err.text, " GB, expected a larger sample_s than 1"));
    arena_release(&a);
}

/* ---- what is done, and when ------------------------------------------------------------------ */

static void test_twice_the_same(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true, .host_series = true};

    (void)state;
    sim_scenario_make(&s, 4, 24, 1200, true, &a);
    s.duration_s = 4 * 3600;
    s.rates[SIM_MIGRATION_FAILS].rate = 0.2;
    s.rates[SIM_SERVICE_RESTARTS] = (struct fault_rate){.rate = 100, .for_s = 20};
    sim_scenario_arrives(&s, 3, 700.5, 9000);
    struct simulation one = run(&s, &o, &a);
    struct simulation two = run(&s, &o, &a);

    assert_memory_equal(&one.metrics, &two.metrics, sizeof one.metrics);
    assert_int_equal(one.n_series, two.n_series);
    for (size_t i = 0; i < one.n_series; i++) {
        assert_memory_equal(&one.series[i], &two.series[i], offsetof(struct series_point, pool_happiness));
        for (int r = 0; r < RES_COUNT; r++)
            assert_memory_equal(one.series[i].host_load[r], two.series[i].host_load[r], 4 * sizeof(double));
    }
    assert_int_equal(one.n_passes, two.n_passes);
    assert_memory_equal(one.passes, two.passes, one.n_passes * sizeof *one.passes);
    arena_release(&a);
}

/* However often somebody looks, the same is decided. */
static void test_samples_change_nothing(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 4, 24, 1200, true, &a);
    s.sample_s = 600;
    struct simulation seldom = run(&s, NULL, &a);

    s.sample_s = 0.7;
    struct simulation often = run(&s, NULL, &a);

    assert_true(seldom.metrics.migrations > 0);
    assert_true(seldom.metrics.migrations == often.metrics.migrations);
    assert_near(seldom.metrics.kwh, often.metrics.kwh);
    assert_near(seldom.metrics.payload_cpu, often.metrics.payload_cpu);
    assert_int_equal(seldom.n_passes, often.n_passes);
    for (size_t i = 0; i < seldom.n_passes; i++) { /* sums are rounded at other places */
        assert_int_equal(seldom.passes[i].begun, often.passes[i].begun);
        assert_near(seldom.passes[i].t_s, often.passes[i].t_s);
        assert_near(seldom.passes[i].imbalance_before, often.passes[i].imbalance_before);
    }
    arena_release(&a);
}

/* What a watch is told, at each tick. */
struct seen {
    uint32_t ticks;
    double last_s, stop_s;
    uint32_t vm;
    double started_s, ended_s; /* of the VM's running */
    uint32_t host;
    double maintained_s, back_s;
    enum automation automation;
    uint32_t lives;
};

static int see(void *ctx, const struct engine *engine, const struct cluster *cluster, double t_s)
{
    struct seen *seen = ctx;
    struct engine_status status;
    bool runs = cluster_vm(cluster, seen->vm)->host != IX_NONE;
    bool maintained = cluster_host(cluster, seen->host)->state == HOST_MAINTENANCE;

    engine_status(engine, &status);
    seen->ticks++;
    assert_true(t_s >= seen->last_s);
    seen->last_s = t_s;
    seen->automation = status.policy.automation;
    if (runs && isnan(seen->started_s))
        seen->started_s = t_s;
    if (!runs && !isnan(seen->started_s) && isnan(seen->ended_s))
        seen->ended_s = t_s;
    if (maintained && isnan(seen->maintained_s))
        seen->maintained_s = t_s;
    if (!maintained && !isnan(seen->maintained_s) && isnan(seen->back_s))
        seen->back_s = t_s;
    return t_s >= seen->stop_s ? -ECANCELED : 0;
}

static const struct seen NOTHING = {
    .stop_s = INFINITY, .started_s = NAN, .ended_s = NAN, .maintained_s = NAN, .back_s = NAN};

static void test_arrivals(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 2, 4, 500, true, &a);
    seen.vm = 3;
    sim_scenario_arrives(&s, 3, 400, 2000);
    struct simulation sim = run(&s, &o, &a);

    assert_true(seen.started_s >= 400 && seen.started_s < 430);
    assert_true(seen.ended_s >= 2000 && seen.ended_s < 2100);
    assert_near(sim.metrics.unplaced, 0);

    s.ballast = false; /* an admin starts it somewhere */
    sim = run(&s, NULL, &a);
    assert_true(sim.metrics.unmet_mhz_s < 500 * 60);
    arena_release(&a);
}

/* Two come, and there is room for one: it is placed at once, the other when a third one has left. */
static void test_no_place(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 1, 4, 500, true, &a);
    for (uint32_t i = 0; i < 4; i++)
        s.initial.vms[i].is.alloc[RES_CPU].reservation = 2500;
    s.initial.hosts[0].is.total[RES_CPU] = 8000;
    s.initial.hosts[0].capacity[RES_CPU] = 8000;
    s.vms[0].leaves_s = 1500;
    sim_scenario_arrives(&s, 2, 400, INFINITY);
    sim_scenario_arrives(&s, 3, 400, INFINITY);
    seen.vm = 2;
    struct simulation sim = run(&s, &o, &a);
    double first_s = seen.started_s;

    assert_true(sim.metrics.unplaced >= 2 && sim.metrics.unplaced <= 8);
    seen = NOTHING;
    seen.vm = 3;
    (void)run(&s, &o, &a);
    assert_true(fmin(first_s, seen.started_s) < 430);
    assert_true(fmax(first_s, seen.started_s) >= 1500 && fmax(first_s, seen.started_s) < 1900);
    arena_release(&a);
}

/* However often somebody looks: a VM without a place is not asked for more often, nor earlier. */
static void test_samples_place_nothing(void **state)
{
    struct arena a = {0};
    struct scenario s;

    (void)state;
    sim_scenario_make(&s, 1, 4, 500, true, &a);
    for (uint32_t i = 0; i < 4; i++)
        s.initial.vms[i].is.alloc[RES_CPU].reservation = 3000;
    s.vms[0].leaves_s = 605; /* between a pass and the end of the minute */
    sim_scenario_arrives(&s, 3, 575, INFINITY);
    s.sample_s = 1800;
    const struct metrics_of_run seldom = run(&s, NULL, &a).metrics;

    s.sample_s = 7;
    const struct metrics_of_run often = run(&s, NULL, &a).metrics;

    assert_true(seldom.unplaced > 0);
    assert_near(often.unplaced, seldom.unplaced);
    assert_near(often.unmet_mhz_s, seldom.unmet_mhz_s);
    assert_near(often.kwh, seldom.kwh);
    arena_release(&a);
}

/* Six come at once: an admin does not start all of them on the host that was the emptiest. */
static void test_many_come_without_ballast(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true, .host_series = true};

    (void)state;
    sim_scenario_make(&s, 3, 6, 1000, true, &a);
    s.ballast = false;
    for (uint32_t i = 0; i < 6; i++)
        sim_scenario_arrives(&s, i, i < 4 ? 400 : 401, INFINITY);
    struct simulation sim = run(&s, &o, &a);

    for (uint32_t i = 0; i < 3; i++)
        assert_near(sim.series[60].host_load[RES_CPU][i], 0.2);
    assert_near(sim.metrics.unplaced, 0);
    arena_release(&a);
}

/* What the emptiest host refuses goes to the next; what all refuse waits, and is counted. */
static void test_refused_without_ballast(void **state)
{
    struct arena a = {0};
    struct scenario s;
    const struct simulate_options o = {.series = true, .host_series = true};

    (void)state;
    sim_scenario_make(&s, 2, 4, 1000, true, &a);
    s.ballast = false;
    s.initial.vms[0].is.alloc[RES_CPU].reservation = 6000; /* on the host with the most memory */
    s.initial.vms[2].is.alloc[RES_CPU].reservation = 5000;
    s.initial.vms[3].is.alloc[RES_CPU].reservation = 6000;
    s.initial.hosts[0].capacity[RES_MEM] *= 4;
    sim_scenario_arrives(&s, 2, 400, INFINITY);
    sim_scenario_arrives(&s, 3, 600, INFINITY);
    struct simulation sim = run(&s, &o, &a);

    assert_near(sim.series[60].host_load[RES_CPU][1], 0.5); /* entitled to what it reserves */
    assert_near(sim.metrics.unplaced, 50);
    arena_release(&a);
}

static void test_operations(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 3, 6, 500, false, &a);
    s.duration_s = 7200;
    seen.host = 1;
    sim_scenario_operation(&s, &a, 600, SCRIPT_MAINTENANCE_ENTER)->host = 1;
    sim_scenario_operation(&s, &a, 3000, SCRIPT_MAINTENANCE_EXIT)->host = 1;
    struct scripted_operation *set = sim_scenario_operation(&s, &a, 5000, SCRIPT_SET);

    set->key = "automation";
    set->value = "manual";
    struct simulation sim = run(&s, &o, &a);

    assert_true(seen.maintained_s >= 600 && seen.maintained_s < 1000);
    assert_true(fabs(sim.metrics.hosts_on_mean - (3 - (seen.back_s - seen.maintained_s) / 7200)) < 0.01);
    assert_true(seen.back_s >= 3000 && seen.back_s < 3100);
    assert_int_equal(seen.automation, AUTOMATION_MANUAL);
    assert_true(sim.metrics.migrations >= 2);

    set->value = "sometimes";
    struct err err = {0};

    assert_int_equal(simulate(&s, NULL, &a, &sim, &err), -EINVAL);
    assert_non_null(strstr(err.text, "5000 s"));
    arena_release(&a);
}

/* Killed in the middle of its moves, it goes on where it was. */
/* A host that is dead for good cannot be serviced, and one that runs need not come out of maintenance: the
 * rest of the script is done all the same. */
static void test_operations_hold_up_nothing(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 4, 6, 500, false, &a);
    s.duration_s = 7200;
    seen.host = 2;
    struct scripted_fault *dies = sim_scenario_fault(&s, &a, 300, SIM_HOST_DIES);

    dies->host = 1;
    dies->for_s = INFINITY;
    sim_scenario_operation(&s, &a, 600, SCRIPT_MAINTENANCE_ENTER)->host = 1;
    sim_scenario_operation(&s, &a, 700, SCRIPT_MAINTENANCE_EXIT)->host = 2;
    sim_scenario_operation(&s, &a, 800, SCRIPT_MAINTENANCE_ENTER)->host = 2;
    struct scripted_operation *set = sim_scenario_operation(&s, &a, 5000, SCRIPT_SET);

    set->key = "automation";
    set->value = "manual";
    (void)run(&s, &o, &a);
    assert_true(seen.maintained_s >= 800 && seen.maintained_s < 1200);
    assert_int_equal(seen.automation, AUTOMATION_MANUAL);
    arena_release(&a);
}

static void test_restarts(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 2, 8, 2000, true, &a);
    double undisturbed = run(&s, NULL, &a).metrics.migrations;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        seen = NOTHING;
        s.seed = seed;
        s.n_faults = 0;
        for (int i = 0; i < 4; i++)
            sim_scenario_fault(&s, &a, i * 20, SIM_SERVICE_RESTARTS)->for_s = 5;
        struct simulation sim = run(&s, &o, &a);

        assert_true(sim.metrics.migrations >= undisturbed && sim.metrics.migrations <= undisturbed + 1);
        assert_true(sim.metrics.imbalance_final < 0.1);
        assert_true(sim.metrics.passes >= 10);
    }
    arena_release(&a);
}

static void test_watch_ends_it(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct simulation sim;
    struct seen seen = NOTHING;
    const struct simulate_options o = {.watch = see, .ctx = &seen};

    (void)state;
    sim_scenario_make(&s, 2, 8, 500, true, &a);
    seen.stop_s = 1000;
    assert_int_equal(simulate(&s, &o, &a, &sim, NULL), -ECANCELED);
    assert_true(seen.last_s >= 1000 && seen.last_s < 1100);
    arena_release(&a);
}

static void test_look_interval(void **state)
{
    struct arena a = {0};
    struct scenario s;
    struct seen seldom = NOTHING;
    struct seen often = NOTHING;

    (void)state;
    sim_scenario_make(&s, 2, 4, 500, false, &a);
    s.sample_s = 1800;
    s.look_s = 300;
    (void)run(&s, &(struct simulate_options){.watch = see, .ctx = &seldom}, &a);
    s.look_s = 20;
    (void)run(&s, &(struct simulate_options){.watch = see, .ctx = &often}, &a);
    assert_true(often.ticks > seldom.ticks + 150);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_decides),
        cmocka_unit_test(test_overload),
        cmocka_unit_test(test_reserved_draws_nothing),
        cmocka_unit_test(test_ballast_helps),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_series_too_long),
        cmocka_unit_test(test_measured_from),
        cmocka_unit_test(test_measured_from_between),
        cmocka_unit_test(test_twice_the_same),
        cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_samples_place_nothing),
        cmocka_unit_test(test_many_come_without_ballast),
        cmocka_unit_test(test_refused_without_ballast),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_operations_hold_up_nothing),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_watch_ends_it),
        cmocka_unit_test(test_look_interval),
        cmocka_unit_test(test_samples_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
