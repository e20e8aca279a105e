/* weeks: simulated days and weeks with faults of every kind, and the invariants that must hold.
 *
 *     weeks DAYS SEED...     BALLAST_TEST_SEED repeats one seed alone, BALLAST_TEST_TALKS tells its story;
 *                            BALLAST_TEST_LONG: for each seed five, a thousand apart; BALLAST_TEST_SLOW: each
 * second seed
 *
 * Each seed makes a cluster of its own, with load that rises by day and falls by night, VMs that come and go,
 * hosts in maintenance, and faults of every kind; by a script, by rates, or both. The last part has no
 * faults, and all actions begun before it have ended by its end. */
#include "invariants.h"
#include "unit/sim_scenario_made.h"
#include "unit/unit.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY_S 86400.0
#define QUIET_S (6 * 3600.0) /* longer than anything can take that was begun before it */

/* How often a day something of each kind happens by script, and for how long. */
static const struct {
    enum sim_fault kind;
    double a_day, for_s, factor;
} script[] = {
    {SIM_MIGRATION_FAILS, 8, 0, 1},   {SIM_MIGRATION_HANGS, 4, 0, 1},  {SIM_MIGRATION_REFUSED, 6, 0, 1},
    {SIM_HOST_REFUSES, 2, 5400, 1},   {SIM_HOST_DIES, 2, 1800, 1},     {SIM_WAKE_FAILS, 2, 0, 1},
    {SIM_WAKE_SLOW, 2, 0, 4},         {SIM_SAMPLES_STALE, 6, 2400, 1}, {SIM_SAMPLES_GARBAGE, 6, 1200, 1},
    {SIM_SOURCE_DEAF, 3, 900, 1},     {SIM_ACTUATOR_DEAF, 3, 600, 1},  {SIM_ANSWER_LOST, 6, 0, 1},
    {SIM_SERVICE_RESTARTS, 8, 60, 1},
};

static void add_script(struct scenario *s, struct rng *r, struct arena *a)
{
    for (size_t i = 0; i < sizeof script / sizeof *script; i++) {
        double n = script[i].a_day * s->duration_s / DAY_S;

        for (int k = 0; k < n; k++) {
            struct scripted_fault *f =
                sim_scenario_fault(s, a, rng_range(r, 60, s->duration_s - QUIET_S), script[i].kind);

            f->for_s = script[i].for_s > 0 ? rng_range(r, 30, script[i].for_s) : INFINITY;
            f->factor = script[i].factor;
            if (f->kind == SIM_HOST_DIES || f->kind == SIM_HOST_REFUSES)
                f->host = rng_below(r, s->initial.n_hosts);
            if (f->kind == SIM_SAMPLES_STALE || f->kind == SIM_SAMPLES_GARBAGE)
                f->vm = rng_below(r, s->initial.n_vms);
        }
    }
}

/* The same all the time. */
static void add_rates(struct scenario *s)
{
    s->rates[SIM_MIGRATION_FAILS] = (struct fault_rate){.rate = 0.1};
    s->rates[SIM_MIGRATION_HANGS] = (struct fault_rate){.rate = 0.03};
    s->rates[SIM_MIGRATION_REFUSED] = (struct fault_rate){.rate = 0.05};
    s->rates[SIM_HOST_REFUSES] = (struct fault_rate){.rate = 0.08};
    s->rates[SIM_HOST_DIES] = (struct fault_rate){.rate = 0.2, .for_s = 1200};
    s->rates[SIM_WAKE_FAILS] = (struct fault_rate){.rate = 0.2};
    s->rates[SIM_WAKE_SLOW] = (struct fault_rate){.rate = 0.2, .factor = 4};
    s->rates[SIM_SAMPLES_STALE] = (struct fault_rate){.rate = 0.2, .for_s = 1800};
    s->rates[SIM_SAMPLES_GARBAGE] = (struct fault_rate){.rate = 0.2, .for_s = 600};
    s->rates[SIM_SOURCE_DEAF] = (struct fault_rate){.rate = 3, .for_s = 600};
    s->rates[SIM_ACTUATOR_DEAF] = (struct fault_rate){.rate = 3, .for_s = 300};
    s->rates[SIM_ANSWER_LOST] = (struct fault_rate){.rate = 0.1};
    s->rates[SIM_SERVICE_RESTARTS] = (struct fault_rate){.rate = 6, .for_s = 90};
}

/* By day each VM wants much and by night little; some spike. */
static void add_load(struct scenario *s, struct rng *r)
{
    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        struct workload *w = &s->vms[i].of[RES_CPU];

        *w = (struct workload){
            .kind = rng_below(r, 2) ? WORKLOAD_NORMAL : WORKLOAD_UNIFORM,
            .seed = rng_next(r),
            .high = rng_range(r, 400, 1600),
            .low = rng_range(r, 50, 200),
            .high_spread = 200,
            .low_spread = 40,
            .high_s = 12 * 3600,
            .low_s = 12 * 3600,
            .step_s = 300,
            .phase_s = 24 * 3600 - rng_range(r, 0, 1800),
            .scale = 1,
            .max = SIM_CORE_MHZ,
        };
    }
}

/* In mid-evacuation: the source falls silent, the service is killed, the host itself is lost, or nothing. */
static void disturb(struct scenario *s, struct rng *r, double at_s, uint32_t host, struct arena *a)
{
    static const enum sim_fault kinds[] = {SIM_SOURCE_DEAF, SIM_SERVICE_RESTARTS, SIM_HOST_DIES};
    uint32_t kind = rng_below(r, 4);

    if (kind == 3)
        return;
    struct scripted_fault *f = sim_scenario_fault(s, a, at_s + rng_range(r, 2, 120), kinds[kind]);

    f->for_s = rng_range(r, 30, 1500);
    f->host = kinds[kind] == SIM_HOST_DIES ? host : IX_NONE;
}

/* Some VMs come late and some leave early; an admin services a host now and then. */
static void add_operations(struct scenario *s, struct rng *r, struct arena *a)
{
    for (uint32_t i = 0; i < s->initial.n_vms; i++) {
        double leaves_s = rng_below(r, 6) ? INFINITY : rng_range(r, s->duration_s / 2, s->duration_s);

        s->vms[i].leaves_s = leaves_s;
        if (rng_below(r, 4) == 0)
            sim_scenario_arrives(s, i, floor(rng_range(r, 10, s->duration_s / 2)), leaves_s);
    }
    for (double t = 3600; t < s->duration_s - QUIET_S; t += 8 * 3600) {
        double at_s = t + rng_range(r, 0, 3600);
        uint32_t host = rng_below(r, s->initial.n_hosts);

        sim_scenario_operation(s, a, at_s, SCRIPT_MAINTENANCE_ENTER)->host = host;
        sim_scenario_operation(s, a, at_s + 5400, SCRIPT_MAINTENANCE_EXIT)->host = host;
        disturb(s, r, at_s, host, a);
    }
}

/* Some have reserved what they want; some pairs must not be together; some VMs run on two hosts only. */
static void add_wishes(struct scenario *s, struct rng *r, struct arena *a)
{
    uint32_t n = s->initial.n_vms / 6;

    s->initial.rules = arena_array(a, struct rule, n);
    for (uint32_t i = 0; i < n; i++) {
        struct vm *v = &s->initial.vms[rng_below(r, s->initial.n_vms)];
        uint32_t *vms = arena_array(a, uint32_t, 2);
        struct rule *rule = &s->initial.rules[s->initial.n_rules++];

        v->is.alloc[RES_CPU].reservation = 500;
        v->is.alloc[RES_MEM].reservation = SIM_VM_MB / 2.0;
        vms[0] = 2 * i; /* a pair is on two hosts from the beginning */
        vms[1] = 2 * i + 1;
        *rule = (struct rule){.vms = {vms, 2}};
        rule_facts_default(&rule->is, RULE_VM_ANTI_AFFINE);
        rule->is.id = rule->is.name = arena_printf(a, "apart-%03u", i);
    }
}

static void make(struct scenario *s, uint64_t seed, double days, struct arena *a)
{
    struct rng r = {seed};
    uint32_t hosts = 4 + rng_below(&r, 5);

    sim_scenario_make(s, hosts, hosts * (4 + rng_below(&r, 11)), 500, false, a);
    s->seed = seed;
    s->duration_s = days * DAY_S;
    s->sample_s = 900;
    s->policy.dpm.enabled = true;
    s->policy.dpm.automation = AUTOMATION_AUTOMATIC;
    s->policy.dpm.hosts_min = 1 + rng_below(&r, 2);
    s->policy.migration_threshold = 2 + rng_below(&r, 4);
    s->policy.migrations_per_cluster = rng_below(&r, 2) ? 0 : 3;
    s->migration.rate_mb_s = (double[]){400, 40, 8}[rng_below(&r, 3)]; /* of slow ones many wait their turn */
    s->policy.cool_down_s = rng_below(&r, 2) ? 1800 : 3600;
    s->initial.ha = (struct ha_facts){.policy = rng_below(&r, 2) ? HA_NONE : HA_HOST_FAILURES, .hosts = 1};
    add_wishes(s, &r, a);
    add_load(s, &r);
    add_operations(s, &r, a);
    if (seed % 3 != 1)
        add_script(s, &r, a);
    if (seed % 3 != 0)
        add_rates(s);
}

static bool week(uint64_t seed, double days)
{
    struct arena a = {0};
    struct scenario s;
    struct invariants inv;
    struct simulation result;
    struct err err = {0};

    make(&s, seed, days, &a);
    invariants_init(&inv, &s);
    inv.talks = getenv("BALLAST_TEST_TALKS") != NULL;
    const struct simulate_options options = {.watch = invariants_watch, .ctx = &inv};
    int code = simulate(&s, &options, &a, &result, &err);
    /* less than was drawn by the time that nobody looked, which faults see to; never more */
    bool accounted = code == 0 && result.metrics.account_kwh < 1.005 * result.metrics.kwh &&
                     result.metrics.account_kwh > 0.9 * result.metrics.kwh;
    bool right = code == 0 && accounted && (seed % 3 != 0 || invariants_end(&inv, QUIET_S));

    if (right)
        printf("seed %llu: %.0f days, %u hosts, %u VMs: %.0f passes, %.0f migrations (%.0f failed, %llu "
               "refused by a host), %.0f "
               "hosts put "
               "to sleep, %.0f woken (%.0f failed), %.0f without a place, %.1f hosts on, short for %.0f s at "
               "most; %llu actions begun, "
               "%llu "
               "ticks, %.1f kWh (account %.1f), all well\n",
               (unsigned long long)seed, days, s.initial.n_hosts, s.initial.n_vms, result.metrics.passes,
               result.metrics.migrations, result.metrics.migrations_failed, (unsigned long long)inv.refusals,
               result.metrics.host_power_offs, result.metrics.host_power_ons, result.metrics.wake_failures,
               result.metrics.unplaced, result.metrics.hosts_on_mean, inv.short_most_s,
               (unsigned long long)inv.begun, (unsigned long long)inv.ticks, result.metrics.kwh,
               result.metrics.account_kwh);
    else
        printf("seed %llu FAILED: %s\n", (unsigned long long)seed,
               inv.failure[0] ? inv.failure
               : err.text[0]  ? err.text
               : !accounted   ? "the energy account is not what was drawn"
                              : "it ended early");
    invariants_release(&inv);
    arena_release(&a);
    return right;
}

int main(int argc, char **argv)
{
    const char *alone = getenv("BALLAST_TEST_SEED");
    const int step = rounds(2) < 2 ? 2 : 1; /* of six in a row one has a script, one rates, one both */
    bool right = true;

    if (argc < 3) {
        fprintf(stderr, "usage: weeks DAYS SEED...\n");
        return 2;
    }
    double days = strtod(argv[1], NULL);

    if (alone)
        return week(strtoull(alone, NULL, 10), days) ? 0 : 1;
    for (int i = 2; i < argc; i += step) {
        for (uint64_t more = 0; more < (getenv("BALLAST_TEST_LONG") ? 5 : 1); more++)
            right = week(strtoull(argv[i], NULL, 10) + 1000 * more, days) && right;
    }
    return right ? 0 : 1;
}
