/* The configuration of power management: the power draw of hosts, and valid settings that are probably
 * errors. */
#include "unit.h"

#include "config/config.h"

#include "base/cleanup.h"

#include <math.h>
#include <string.h>

#define SIM "cluster: a\nsource: {kind: sim}\n"

static int parse(const char *text, enum config_use use, struct arena *a, struct config *ret, struct err *err)
{
    return config_parse("f.yaml", text, strlen(text), use, a, ret, err);
}

/* What is kept of the old configuration outlives it. */
static void test_watts(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct arena old_arena = {0};
    struct config c, now;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(SIM "power:\n  hosts: {a: {watts: [93.7, 110, 135], standby_w: 0}, b: {}}\n"
                               "  defaults: {watts: [120, 310]}\n",
                           CONFIG_FOR_SERVICE, &old_arena, &c, &err),
                     0);
    assert_int_equal(parse(SIM, CONFIG_FOR_SERVICE, &a, &now, &err), 0);
    config_keep_fixed(&c, &now, true, &a);
    arena_release(&old_arena);
    const struct config_power_host *h = now.power_hosts;

    assert_true(h[0].watts.n == 3 && h[0].watts.watts[0] == 93.7 && h[0].watts.watts[2] == 135);
    assert_true(h[1].watts.n == 2 && h[1].watts.watts[1] == 310);
    assert_true(h[0].standby_w == 0 && isnan(h[1].standby_w));
}

static const struct {
    const char *text;
    const char *warning; /* NULL: none */
} odd[] = {
    {SIM "dpm: {enabled: true}\n", NULL},
    {SIM "cool_down_s: 1\n", NULL},
    {SIM "interval_s: 60\ncool_down_s: 0\n",
     "f.yaml:4: cool_down_s is 0: a VM that has just moved may be moved again"},
    {SIM "dpm: {enabled: true, target: 80, tolerance: 20}\n", NULL},
    {SIM "dpm: {enabled: false, target: 90, tolerance: 20}\n", NULL},
    {SIM "dpm:\n  enabled: true\n  target: 90\n",
     "f.yaml:5: dpm.target and dpm.tolerance let hosts be filled to 108 %"},
    {SIM "dpm:\n  enabled: true\n  tolerance: 60\n",
     "f.yaml:5: dpm.target and dpm.tolerance let hosts be filled to 123 %"},
    {SIM "dpm:\n  enabled: true\n  target: 40\n  tolerance: 40\n",
     "f.yaml:5: dpm.target and dpm.tolerance put no host to standby"},
    {SIM "dpm:\n  enabled: true\n  ratio: 0\n  off_min_s: 20000\n", NULL},
    {SIM "dpm:\n  enabled: true\n  off_min_s: 60\n",
     "f.yaml:5: dpm.off_min_s (60) is not more than dpm.standby_s (60): no host is put to standby"},
    {SIM "dpm:\n  enabled: true\n  off_max_s: 3600\n  off_min_s: 600\n",
     "f.yaml:5: dpm.off_max_s is not used any more"},
    {SIM "dpm:\n  host_uptime_min_s: 60\n", "f.yaml:4: dpm.host_uptime_min_s is not used any more"},
};

static void test_odd(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(odd); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};

        assert_int_equal(parse(odd[i].text, CONFIG_FOR_SERVICE, &a, &c, &err), 0);
        assert_int_equal(c.n_warnings, odd[i].warning ? 1 : 0);
        if (odd[i].warning)
            assert_memory_equal(c.warnings[0], odd[i].warning, strlen(odd[i].warning));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watts),
        cmocka_unit_test(test_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
