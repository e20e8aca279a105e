/* Statistics of the service's own migrations: they are in the next snapshot, survive a restart, and ignore
 * migrations that were not observed from beginning to end. */
#include "engine_world.h"

/* One migration of vm00 (1,000 MiB) from h0 to h1, which takes 20 s: about 56 MiB/s where a tenth is dirtied.
 */
static void begin_one(struct world *w)
{
    world_init(w, 3, 4);
    w->settings.policy.automation = AUTOMATION_FULL;
    w->hottest = 1.2;
    w->task_s = 20;
    w->script[0] = (struct world_move){.vm = 0, .to = 1, .priority = 3};
    w->n_script = 1;
    world_begin_engine();
}

static double pair_rate(const char *from, const char *to)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    for (uint32_t i = 0; i < s->n_migration_rates; i++) {
        const struct migration_rate *m = &s->migration_rates[i];

        if (strcmp(s->hosts[m->from].is.id, from) == 0 && strcmp(s->hosts[m->to].is.id, to) == 0)
            return m->rate_mb_s;
    }
    return UNKNOWN;
}

static double host_rate(const char *id)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return s->hosts[snapshot_find_host(s, id)].is.migration_rate_mb_s;
}

static double dirty_rate(const char *id)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    return s->vms[snapshot_find_vm(s, id)].is.dirty_mb_s;
}

static bool about(double a, double b)
{
    return a > 0.9 * b && a < 1.1 * b;
}

static void test_rate_is_learned(void **state)
{
    struct world w;

    (void)state;
    begin_one(&w);
    world_run(20);
    assert_int_equal(engine_snapshot(w.engine)->n_migration_rates, 0); /* it is still going on */
    world_run(80);
    assert_int_equal(world_state(1), ACTION_DONE);
    assert_true(about(pair_rate("h0", "h1"), 1110 / 20.0));
    assert_true(host_rate("h0") == pair_rate("h0", "h1") && host_rate("h1") == pair_rate("h0", "h1"));
    assert_true(isnan(host_rate("h2")) && isnan(pair_rate("h1", "h0")) && isnan(dirty_rate("vm00")));
    double rate = pair_rate("h0", "h1");

    w.n_script = 0;
    world_restart();
    world_run(70);
    assert_true(pair_rate("h0", "h1") == rate && host_rate("h1") == rate);
    w.n_hosts = 1; /* a host that is gone is left out */
    w.vms[0].host = 0;
    world_run(70);
    assert_int_equal(engine_snapshot(w.engine)->n_migration_rates, 0);
    assert_true(host_rate("h0") == rate);
    world_release();
}

/* vm01 takes three times as long over the same link. */
static void test_dirty_rate_is_learned(void **state)
{
    struct world w;

    (void)state;
    begin_one(&w);
    world_run(100);
    w.task_s = 60;
    w.script[0].vm = 1;
    world_run(180);
    assert_int_equal(world_state(2), ACTION_DONE);
    double dirty = dirty_rate("vm01");

    assert_true(dirty > 20 && dirty < 55);
    w.n_script = 0;
    world_restart();
    world_run(70);
    assert_true(dirty_rate("vm01") == dirty && isnan(dirty_rate("vm02")));
    w.vms[1].host =
        0; /* once more, and as fast as the first one: what was learned is not the source's word */
    w.task_s = 20;
    w.n_script = 1;
    world_run(120);
    assert_int_equal(world_state(3), ACTION_DONE);
    assert_true(dirty_rate("vm01") < 0.8 * dirty);
    world_release();
}

static void test_what_the_source_says_stands(void **state)
{
    struct world w;

    (void)state;
    begin_one(&w);
    w.host_rate_mb_s = 1000;
    w.dirty_mb_s = 7;
    world_run(100);
    w.script[0].vm = 1;
    world_run(180);
    assert_int_equal(world_state(2), ACTION_DONE);
    assert_true(host_rate("h0") == 1000 && dirty_rate("vm01") == 7);
    assert_true(about(pair_rate("h0", "h1"), 1000 / 20.0 + 7)); /* no source says it of pairs */
    w.dirty_mb_s = 0;
    world_run(70);
    assert_true(isnan(dirty_rate("vm01"))); /* nothing was learned of it meanwhile */
    world_release();
}

/* One that writes faster than it is copied, and is not slowed down, is moved only where it must be. */
static void test_endless(void **state)
{
    static const struct {
        double dirty, host, most;
        bool throttled, held;
    } cases[] = {
        {300, 0, 0, false, true},                               /* the setting's 250 MiB/s */
        {300, 0, 0, true, false},                               /* slowed down until it ends */
        {300, 1000, 0, false, false},                           /* the source's own rate */
        {300, 1000, 100, false, true}, {0, 0, 1, false, false}, /* not known */
        {2, 0, 4, false, false},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct world w;

        begin_one(&w);
        w.n_script = 0;
        w.dirty_mb_s = cases[i].dirty;
        w.host_rate_mb_s = cases[i].host;
        w.copy_most_mb_s = cases[i].most;
        w.unthrottled = !cases[i].throttled;
        world_run(10);
        const struct snapshot *s = engine_snapshot(w.engine);
        const char *why = s->vms[snapshot_find_vm(s, "vm00")].is.mandatory_only;
        if ((why != NULL) != cases[i].held)
            fail_msg("case %zu: %s", i, why ? why : "moved for balance");
        if (i == 0)
            assert_string_equal(why,
                                "memory that it writes to at 300 MiB/s, while it is copied at 250 MiB/s");
        world_release();
    }
}

static const struct {
    const char *name;
    bool fails, adopted, shared, start_lost, short_one;
} silent[] = {
    {.name = "it failed", .fails = true},
    {.name = "another process began it", .adopted = true},
    {.name = "another one used the host", .shared = true},
    {.name = "nobody knows when it really began", .start_lost = true},
    {.name = "too short to be timed", .short_one = true},
};

static void test_teaches_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(silent); i++) {
        struct world w;

        print_message("  %s\n", silent[i].name);
        begin_one(&w);
        w.tasks_fail = silent[i].fails;
        w.start_lost = silent[i].start_lost;
        w.task_s = silent[i].short_one ? 2 : silent[i].shared ? 8 : 20; /* 8: over before the next look */
        if (silent[i].shared) {
            w.dirty_mb_s = 1; /* little enough for both at a time */
            w.script[1] = (struct world_move){.vm = 1, .to = 2, .priority = 3};
            w.n_script = 2;
        }
        world_run(6);
        if (silent[i].adopted)
            world_restart();
        w.n_script = 0;
        world_run(120);
        assert_int_equal(world_state(1), silent[i].fails ? ACTION_FAILED : ACTION_DONE);
        assert_int_equal(engine_snapshot(w.engine)->n_migration_rates, 0);
        assert_true(isnan(host_rate("h0")));
        assert_int_equal(w.n_rates + w.n_dirties, 0);
        world_release();
    }
}

/* Another cluster has an h0 and an h1 too. */
static void test_not_of_another_source(void **state)
{
    struct world w;

    (void)state;
    begin_one(&w);
    world_run(100);
    assert_true(w.n_rates == 3 && pair_rate("h0", "h1") > 0);
    w.n_script = 0;
    w.settings.source = "another";
    for (int i = 0; i < 2; i++) { /* nor after the restart after that */
        world_restart();
        world_run(70);
        assert_int_equal(engine_snapshot(w.engine)->n_migration_rates, 0);
        assert_true(isnan(host_rate("h0")));
    }
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_is_learned),
        cmocka_unit_test(test_dirty_rate_is_learned),
        cmocka_unit_test(test_what_the_source_says_stands),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_teaches_nothing),
        cmocka_unit_test(test_not_of_another_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
