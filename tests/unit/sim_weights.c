/* Hosts without pools: the weights that Ballast sets make a host divide as the pools of the configuration
 * say. */
#include "sim_world.h"
#include "unit.h"

#include "sim/run/simulate.h"

#include <errno.h>
#include <string.h>

/* Six VMs of gold, of which four are idle, beside four of silver, and more is wanted than the host has. */
#define GOLD_AND_SILVER                                                                                      \
    "duration_s: 3600\nmeasure_from_s: 900\nseed: 1\nscheduler: weights\n"                                   \
    "hosts: [{name: kvm, count: 1, cores: 8, core_mhz: 2500, mem_mb: 65536}]\n"                              \
    "pools:\n- {name: gold, cpu: {shares: 2000}}\n- {name: silver, cpu: {shares: 1000}}\n"                   \
    "vms:\n"                                                                                                 \
    "- {name: gold, count: 2, vcpus: 8, mem_mb: 2048, pool: gold, workload: {cpu: 20000, mem: 1500}}\n"      \
    "- {name: idle, count: 4, vcpus: 8, mem_mb: 2048, pool: gold, workload: {cpu: 100, mem: 1500}}\n"        \
    "- {name: silver, count: 4, vcpus: 8, mem_mb: 2048, pool: silver, workload: {cpu: 20000, mem: 1500}}\n"

/* MHz that the pool got, of 20,000. */
static double got(const char *automation, const char *pool)
{
    struct arena a = {0};
    const char *text = arena_printf(&a, "%ssettings: {automation: %s}\n", GOLD_AND_SILVER, automation);
    struct scenario s;
    struct simulation run;
    struct err err = {0};
    double ret = -1;

    if (scenario_parse("s.yaml", text, strlen(text), &(struct scenario_options){0}, &a, &s, &err) < 0 ||
        simulate(&s, NULL, &a, &run, &err) < 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < run.n_pools; i++)
        if (strcmp(run.pools[i].name, pool) == 0)
            ret = run.pools[i].payload[RES_CPU] / 100 * 20000;
    arena_release(&a);
    return ret;
}

static void test_pools_are_enforced(void **state)
{
    (void)state;
    assert_true(fabs(got("full", "gold") - 13333) < 100);
    assert_true(fabs(got("full", "silver") - 6667) < 100);
}

/* Without the settings each VM counts alike: two hungry ones against four. */
static void test_not_in_manual_automation(void **state)
{
    (void)state;
    assert_true(fabs(got("manual", "gold") - 6933) < 100);
    assert_true(fabs(got("manual", "silver") - 13067) < 100);
}

static int set(struct sim *w, const char *vm, struct vm_control to)
{
    const struct vm_setting one = {.vm = vm, .to = to};
    const struct pool_settings q = {.host = "h1", .vms = &one, .n_vms = 1};

    return cluster_set_pools(w->c, &q, NULL);
}

static void test_set_and_given_back(void **state)
{
    struct sim w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    sim_init(&w);
    small_host(&w.small, "h1", 10000, 65536);
    small_host(&w.small, "h2", 10000, 65536);
    small_vm(&w.small, "a", "h1", 9000, 1024);
    small_vm(&w.small, "b", "h1", 9000, 1024);
    small_vm(&w.small, "c", "h2", 9000, 1024);
    sim_build(&w);
    w.s.scheduler = SCHEDULER_WEIGHTS;
    sim_begin(&w);
    NEAR(sim_gets(&w, "a", RES_CPU), 5000);
    assert_int_equal(set(&w, "a", (struct vm_control){true, 3000, NO_LIMIT}), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 7500);
    assert_int_equal(set(&w, "b", (struct vm_control){true, 1000, 2000}), 0);
    NEAR(sim_gets(&w, "b", RES_CPU), 2000);
    sim_look(&w, &inv, &s);
    assert_true(s.vms[0].is.set.given && s.vms[1].is.set.limit == 2000 && !s.vms[2].is.set.given);
    assert_int_equal(set(&w, "c", (struct vm_control){true, 3000, 10}), 0); /* not there: passed over */
    NEAR(sim_gets(&w, "c", RES_CPU), 9000);
    assert_int_equal(set(&w, "nobody", (struct vm_control){true, 3000, 10}), -ENOENT);
    assert_int_equal(set(&w, "a", (struct vm_control){0}), 0);
    assert_int_equal(set(&w, "b", (struct vm_control){0}), 0);
    NEAR(sim_gets(&w, "a", RES_CPU), 5000);
    sim_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools_are_enforced),
        cmocka_unit_test(test_not_in_manual_automation),
        cmocka_unit_test(test_set_and_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
