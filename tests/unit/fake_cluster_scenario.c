/* The fake cluster of a scenario. */
#include "fake_cluster_world.h"

#include "base/cleanup.h"

#include <errno.h>

/* Its loads follow the scenario, `speed` times as fast as the clock; its settings decide nothing here. */
static void test_from_a_scenario(void **state)
{
    static const char text[] = "duration_s: 7200\nsettings: {automation: manual}\n"
                               "hosts: [{name: h1, cores: 8, core_mhz: 2000, mem_mb: 65536}]\n"
                               "vms: [{name: a, vcpus: 4, mem_mb: 4096, workload: {mem: 1000, cpu: {kind: "
                               "uniform, high: 4000, high_spread: 0, "
                               "high_s: 1000, low: 500, low_spread: 0, low_s: 1000}}}]\n";
    char path[] = "/tmp/ballast-scenario-XXXXXX";
    const struct fake_cluster_options both = {.file = path, .scenario = path};
    static const double at_s[] = {50, 150, 250, 750 /* after the end of the scenario */};
    static const double cpu_mhz[] = {4000, 500, 4000, 500};
    struct err err = {0};
    struct world w;
    struct fake_cluster *none;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    world_begin(&w, (struct fake_cluster_options){.scenario = path, .speed = 10});
    for (size_t i = 0; i < sizeof at_s / sizeof *at_s; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct inventory inv;
        struct snapshot s;

        w.now_s = at_s[i] - 10; /* demand is the mean since the last look */
        look(&w, &a, &inv, &s);
        w.now_s = at_s[i];
        look(&w, &a, &inv, &s);
        assert_int_equal(inv.time, EPOCH + (instant_s)at_s[i]);
        assert_float_equal(inv.vms[0].is.demand[RES_CPU], cpu_mhz[i], 1);
    }
    world_release(&w);
    assert_int_equal(fake_cluster_new(&both, &none, &err), -EINVAL);
    (void)unlink(path);
    assert_int_equal(fake_cluster_new(&(struct fake_cluster_options){.scenario = path}, &none, &err),
                     -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_a_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
