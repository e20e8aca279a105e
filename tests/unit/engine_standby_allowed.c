/* Who may decide that a host goes to standby, and the conditions that forbid it to everyone. */
#include "engine_world.h"

static const struct {
    const char *name;
    bool enabled;
    enum automation level, host, cluster, vm;
    bool unproven, cannot_wake;
    int hosts_min;
    double cpu_min_mhz, mem_min_mb;
    struct ha_facts ha;
    double reserved; /* by each VM, of memory */
    bool sleeps;
} approval_cases[] = {
    {.name = "automatic", .enabled = true, .level = AUTOMATION_AUTOMATIC, .sleeps = true},
    {.name = "manual", .enabled = true, .level = AUTOMATION_MANUAL},
    {.name = "disabled", .enabled = true, .level = AUTOMATION_DISABLED},
    {.name = "power management is off", .level = AUTOMATION_AUTOMATIC},
    {.name = "the host says manual",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .host = AUTOMATION_MANUAL},
    {.name = "the host says disabled",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .host = AUTOMATION_DISABLED},
    {.name = "the host says automatic",
     .enabled = true,
     .level = AUTOMATION_MANUAL,
     .host = AUTOMATION_AUTOMATIC,
     .sleeps = true},
    {.name = "VMs are moved by a person",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .cluster = AUTOMATION_MANUAL},
    {.name = "one of its VMs is", .enabled = true, .level = AUTOMATION_AUTOMATIC, .vm = AUTOMATION_MANUAL},
    {.name = "it was never seen to wake", .enabled = true, .level = AUTOMATION_AUTOMATIC, .unproven = true},
    {.name = "nobody could wake it", .enabled = true, .level = AUTOMATION_AUTOMATIC, .cannot_wake = true},
    {.name = "as many as may",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .hosts_min = 3,
     .sleeps = true},
    {.name = "too few hosts", .enabled = true, .level = AUTOMATION_AUTOMATIC, .hosts_min = 4},
    {.name = "just enough CPU",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .cpu_min_mhz = 30000,
     .sleeps = true},
    {.name = "too little CPU", .enabled = true, .level = AUTOMATION_AUTOMATIC, .cpu_min_mhz = 30001},
    {.name = "too little memory", .enabled = true, .level = AUTOMATION_AUTOMATIC, .mem_min_mb = 30001},
    {.name = "two may fail",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .ha = {.policy = HA_HOST_FAILURES, .hosts = 2},
     .reserved = 1000,
     .sleeps = true},
    {.name = "three may fail",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .ha = {.policy = HA_HOST_FAILURES, .hosts = 3}},
    {.name = "80 % are kept, 5 GB are left for 4",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .ha = {.policy = HA_PERCENT, .percent = {0, 80}},
     .reserved = 1000,
     .sleeps = true},
    {.name = "90 % are kept, 3 GB are left for 4",
     .enabled = true,
     .level = AUTOMATION_AUTOMATIC,
     .ha = {.policy = HA_PERCENT, .percent = {0, 90}},
     .reserved = 1000},
};

static void test_who_approves(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(approval_cases); i++) {
        struct world w;
        struct dpm_policy *dpm = &w.settings.policy.dpm;

        print_message("  %s\n", approval_cases[i].name);
        world_init_standby(&w);
        dpm->enabled = approval_cases[i].enabled;
        dpm->automation = approval_cases[i].level;
        w.host_dpm[2] = approval_cases[i].host;
        if (approval_cases[i].cluster != AUTOMATION_INHERIT)
            w.settings.policy.automation = approval_cases[i].cluster;
        w.vms[3].automation = approval_cases[i].vm;
        w.unproven = approval_cases[i].unproven;
        if (approval_cases[i].cannot_wake)
            w.settings.operations &= ~(1u << OPERATION_WAKE);
        if (approval_cases[i].hosts_min)
            dpm->hosts_min = approval_cases[i].hosts_min;
        dpm->min[RES_CPU] = approval_cases[i].cpu_min_mhz;
        dpm->min[RES_MEM] = approval_cases[i].mem_min_mb;
        w.ha = approval_cases[i].ha;
        w.reserved_mb = approval_cases[i].reserved;
        world_begin_engine();
        world_run(60);
        assert_int_equal(w.downs[2], approval_cases[i].sleeps);
        assert_int_equal(w.starts[2], approval_cases[i].sleeps); /* the moves are of no use alone */
        assert_int_equal(w.starts[3], approval_cases[i].sleeps);
        world_release();
    }
}

/* A person applies the group, as a whole, and is told what stands in the way. */
static void test_applied_by_a_person(void **state)
{
    struct world w;
    struct err err = {0};
    const uint64_t all[] = {1, 2, 3};

    (void)state;
    world_init_standby(&w);
    w.settings.policy.dpm.automation = AUTOMATION_MANUAL;
    w.settings.policy.automation = AUTOMATION_MANUAL;
    w.unproven = true;
    world_begin_engine();
    world_run(2);
    assert_int_equal(engine_approve(w.engine, all, NULL, 2, "tester", w.now, NULL, &err), -EBUSY);
    assert_int_equal(engine_approve(w.engine, all, NULL, 3, "tester", w.now, NULL, &err), -EPERM);
    assert_non_null(strstr(err.text, "`ballast wake h2 --verify`"));
    w.unproven = false;
    w.settings.policy.dpm.hosts_min = 4;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(60);
    assert_int_equal(engine_approve(w.engine, all, NULL, 3, "tester", w.now, NULL, &err), -EPERM);
    assert_non_null(strstr(err.text, "without host h2 3 would be on, and dpm.hosts_min is 4"));
    w.settings.policy.dpm.hosts_min = 1;
    engine_configure(w.engine, &w.settings, w.now);
    assert_int_equal(engine_approve(w.engine, all, NULL, 3, "tester", w.now, NULL, &err), 0);
    world_run(40);
    assert_int_equal(w.host_state[2], HOST_STANDBY);
    world_release();
}

/* Whether a cluster is quiet shows in its history. */
static void test_no_standby_before_it_was_watched(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, 4, 4);
    w.settings.policy.interval_s = 60;
    w.settings.policy.dpm.enabled = true;
    w.settings.policy.dpm.watch_s = 300;
    world_begin_engine();
    world_run(280);
    assert_true(w.passes > 3);
    assert_int_equal(w.passes, w.passes_without_sleep);
    world_run(60);
    w.passes_without_sleep = 0;
    world_run(60);
    assert_int_equal(w.passes_without_sleep, 0);
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_standby_before_it_was_watched),
        cmocka_unit_test(test_who_approves),
        cmocka_unit_test(test_applied_by_a_person),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
