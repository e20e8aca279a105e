/* Expected demand changes nothing if it is no rise. A rise only wakes hosts or keeps them on, and never
 * makes a host alternate. */
#include "core/pass.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct tally {
    unsigned plans, early, kept, returned;
};

static void settings(struct rng *r, struct policy *policy)
{
    policy->dpm.enabled = true;
    policy->dpm.automation = AUTOMATION_AUTOMATIC;
    policy->moves_max = 0;
    if (rng_unit(r) < 0.3)
        policy->dpm.ratio = 1 + rng_below(r, 40);
}

static unsigned count(const struct plan *p, enum action_kind action, bool early)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < p->n_recommendations; i++)
        n += p->recommendations[i].action == action &&
             (!early || p->recommendations[i].reason == REASON_EXPECTED_DEMAND);
    return n;
}

static void run(const struct snapshot *s, const struct policy *policy, struct arena *a, struct plan *ret)
{
    struct err err = {0};

    assert_int_equal(pass_run(s, policy, a, ret, &err), 0);
}

/* What was woken for an earlier rise stays on while anything is expected of that time. */
static void forget_wakes(struct snapshot *s)
{
    for (uint32_t h = 0; h < s->n_hosts; h++)
        s->hosts[h].is.woken = (struct woken){0};
}

static void check(uint64_t seed, const struct cluster_options *options, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plain, other;

    random_cluster(&r, options, &a, &snap);
    forget_wakes(&snap);
    policy_default(&policy);
    settings(&r, &policy);
    run(&snap, &policy, &a, &plain);
    struct policy off = policy;
    off.dpm.proactive = false;
    expect_rise(&snap, &policy, 4, snap.time + FORECAST_SLOT_S, &a);
    run(&snap, &off, &a, &other);
    if (!oracle_same_plan(&plain, &other))
        fail_msg("seed %llu: switched off, and another plan", (unsigned long long)seed);
    static const double no_rise[] = {0.1, 1, 1.19};
    for (size_t i = 0; i < sizeof no_rise / sizeof *no_rise; i++) {
        expect_rise(&snap, &policy, no_rise[i], snap.time, &a);
        run(&snap, &policy, &a, &other);
        if (!oracle_same_plan(&plain, &other))
            fail_msg("seed %llu: another plan for %g times as much", (unsigned long long)seed, no_rise[i]);
    }
    expect_rise(&snap, &policy, 1.2 + 4 * rng_unit(&r), snap.time + FORECAST_SLOT_S, &a);
    snap.forecast[1].time = snap.time + 1 + rng_below(&r, FORECAST_SLOT_S);
    run(&snap, &policy, &a, &other);
    bool high = plain.before.dpm_high[RES_CPU] > 0 || plain.before.dpm_high[RES_MEM] > 0;
    unsigned early = count(&other, ACTION_POWER_ON, true);
    if (early > 0 && count(&other, ACTION_POWER_OFF, false) > 0)
        fail_msg("seed %llu: wakes early and puts to standby", (unsigned long long)seed);
    if (count(&plain, ACTION_POWER_ON, false) > count(&other, ACTION_POWER_ON, false))
        fail_msg("seed %llu: wakes fewer hosts than without", (unsigned long long)seed);
    if (high && count(&plain, ACTION_POWER_ON, false) > 0 && early == 0 && !oracle_same_plan(&plain, &other))
        fail_msg("seed %llu: wakes for now, and another plan", (unsigned long long)seed);
    t->plans++;
    t->early += early;
    t->kept += count(&plain, ACTION_POWER_OFF, false) > count(&other, ACTION_POWER_OFF, false);
    arena_release(&a);
}

static void test_only_earlier(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(2000); i++)
        check(test_seed() + i,
              &(struct cluster_options){.hosts_max = 9,
                                        .vms_max = 30,
                                        .mixed_hosts = true,
                                        .rules = (test_seed() + i) % 2 == 1,
                                        .sleeping = true,
                                        .power = true},
              &t);
    (void)printf("%u plans, %u hosts woken early, in %u fewer put to standby\n", t.plans, t.early, t.kept);
    if (test_is_usual())
        assert_true(t.early > 100 && t.kept > 50);
}

/* ---- a rise that is to come, and load that stays as it is ---- */

#define PASSES 24
/* After a wake no host goes to standby for dpm.low_s, 8 passes. VMs of hosts that stay on rest for 6 passes
 * after moves for balance, and hold more hosts on until then. */
#define SETTLES 15
#define STAYS_ON 6 /* passes after a wake: a boot, two intervals, and the quarter of an hour of the rise */
static void check_settles(uint64_t seed, const struct cluster_options *options, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;

    random_cluster(&r, options, &a, &snap);
    forget_wakes(&snap);
    policy_default(&policy);
    settings(&r, &policy);
    flat_load(&snap);
    double factor = 1.2 + 3 * rng_unit(&r);
    bool *put_down = arena_array(&a, bool, snap.n_hosts);
    int *woken = arena_array(&a, int, snap.n_hosts); /* the pass after the wake; 0: none */

    for (int pass = 0; pass < PASSES; pass++) {
        struct plan plan;
        struct snapshot then;
        expect_rise(&snap, &policy, factor, snap.time + FORECAST_SLOT_S, &a);
        snap.forecast[1].time = snap.time + 300; /* the rise is always five minutes away */
        run(&snap, &policy, &a, &plan);
        for (uint32_t i = 0; i < plan.n_recommendations; i++) {
            const struct recommendation *rec = &plan.recommendations[i];
            if ((rec->action == ACTION_POWER_ON && put_down[rec->host]) ||
                (rec->action == ACTION_POWER_OFF && woken[rec->host] > 0 &&
                 pass < woken[rec->host] - 1 + STAYS_ON))
                fail_msg("seed %llu: pass %d goes back on an earlier one: %s", (unsigned long long)seed, pass,
                         reason_name(rec->reason));
            if (rec->vm == IX_NONE && pass >= SETTLES && rec->reason != REASON_SPARE_CAPACITY)
                fail_msg("seed %llu: pass %d still does: %s", (unsigned long long)seed, pass,
                         reason_name(rec->reason));
            if (rec->action == ACTION_POWER_ON)
                woken[rec->host] = pass + 1;
            if (rec->action == ACTION_POWER_OFF) {
                t->returned += woken[rec->host] > 0;
                put_down[rec->host] = true;
            }
            t->early += rec->action == ACTION_POWER_ON && rec->reason == REASON_EXPECTED_DEMAND;
            t->kept += rec->action == ACTION_POWER_OFF;
        }
        oracle_carried_out(&plan, snap.time, &a, &then);
        snap = then;
        snap.time += policy.interval_s;
    }
    arena_release(&a);
}

static void test_settles(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(600); i++)
        check_settles(
            test_seed() + i,
            &(struct cluster_options){
                .hosts_max = 9, .vms_max = 40, .mixed_hosts = true, .sleeping = true, .power = true},
            &t);
    (void)printf("%u hosts woken early, %u put to standby, %u of them woken before\n", t.early, t.kept,
                 t.returned);
    if (test_is_usual())
        assert_true(t.early > 20 && t.kept > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_earlier), cmocka_unit_test(test_settles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
