/* Power management against the slowest way to say the same: who may never be put to standby is not, who is
 * has been emptied, nobody has more to do for it than before, waking relieves, and under flat load nothing
 * goes on and off.
 */
#include "core/demand/guard.h"
#include "core/pass.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CLOSE 1e-7
#define DEVIATIONS 2

struct tally {
    unsigned plans, off, on, empty;
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    struct guard guard; /* its figures are those that decide */
    struct tally *tally;
};

struct scores {
    double high[RES_COUNT], low[RES_COUNT];
};

/* ---- scores, added up anew ---- */

static bool is_about_to_go(const struct snapshot *s, uint32_t host)
{
    for (uint32_t i = 0; i < s->n_pending; i++)
        if ((s->pending[i].action == ACTION_POWER_OFF || s->pending[i].action == ACTION_ENTER_MAINTENANCE) &&
            s->pending[i].host == host)
            return true;
    return false;
}

/* Where the VM will be once what was under way at the start has ended. */
static uint32_t will_be(const struct oracle *o, uint32_t vm)
{
    bool moving = o->in_flight[vm] && o->home_also[vm] != IX_NONE && !o->starts[vm];

    return moving && !o->arrived[vm] && o->at[vm] == o->home[vm] ? o->home_also[vm] : o->at[vm];
}

static double stddev_of(const struct world *w, uint32_t vm, enum window window, enum resource r)
{
    const struct vm_facts *f = &w->guard.snap->vms[vm].is;
    const struct demand_stats *d = &f->window[window][r];
    double limit = f->alloc[r].limit; /* more is not to be had anywhere */
    double most = isinf(limit) ? INFINITY : fmin(d->mean, limit) * (limit - fmin(d->mean, limit));

    return sqrt(fmin(d->stddev * d->stddev, most));
}

/* Pair by pair: the covariance of two VMs is ρ times their standard deviations. */
static double utilization(const struct world *w, uint32_t host, enum window window, enum resource r)
{
    const struct oracle *o = &w->o;
    double mean = 0;
    double alone = 0;
    double pairs = 0;
    double most = 0;

    for (uint32_t v = 0; v < o->snap->n_vms; v++) {
        const struct vm_facts *f = &w->guard.snap->vms[v].is;
        double mine = stddev_of(w, v, window, r);
        if (o->home[v] == IX_NONE || will_be(o, v) != host)
            continue;
        mean += fmin(f->window[window][r].mean, f->alloc[r].limit);
        most += fmin(f->window[window][r].max, f->alloc[r].limit);
        alone += mine * mine;
        for (uint32_t u = 0; u < o->snap->n_vms; u++)
            if (u != v && o->home[u] != IX_NONE && will_be(o, u) == host)
                pairs += w->snap.correlation.of[window][r] * mine * stddev_of(w, u, window, r);
    }
    double independent = mean + DEVIATIONS * sqrt(alone);
    double together = fmin(mean + DEVIATIONS * sqrt(alone + pairs), most);
    return fmax(independent, together) / o->snap->hosts[host].capacity[r];
}

static void score(const struct world *w, struct scores *ret)
{
    const struct oracle *o = &w->o;
    const struct policy *policy = &w->policy;
    double above = (policy->dpm.target + policy->dpm.tolerance) / 100;
    double below = (policy->dpm.target - policy->dpm.tolerance) / 100;

    *ret = (struct scores){0};
    for (int r = 0; r < RES_COUNT; r++) {
        for (uint32_t h = 0; h < o->snap->n_hosts; h++) {
            if (!oracle_runs_vms(o, h) || is_about_to_go(o->snap, h))
                continue;
            double excess = utilization(w, h, WINDOW_5M, (enum resource)r) - above;
            double lack = below - utilization(w, h, WINDOW_40M, (enum resource)r);
            ret->high[r] += excess > 1e-9 ? excess * excess : 0;
            ret->low[r] += lack > 1e-9 ? lack * lack : 0;
        }
        ret->high[r] = sqrt(ret->high[r]);
        ret->low[r] = sqrt(ret->low[r]);
    }
}

/* ---- one plan ---- */

static bool is_of_power(const struct recommendation *rec)
{
    return rec->reason == REASON_CONSOLIDATE || rec->reason == REASON_HIGH_UTILIZATION;
}

static void check_host_may_sleep(const struct world *w, uint32_t host)
{
    const struct host *h = &w->snap.hosts[host];
    enum automation dpm = h->is.dpm == AUTOMATION_INHERIT ? w->policy.dpm.automation : h->is.dpm;
    bool up = h->is.on_since == 0 || w->snap.time - h->is.on_since >= w->policy.dpm.host_uptime_min_s;

    if (h->is.state != HOST_ON || h->failover || !h->is.wake_verified || dpm == AUTOMATION_DISABLED || !up ||
        is_about_to_go(&w->snap, host))
        fail_msg("seed %llu: %s must not be put to standby", (unsigned long long)w->seed, h->is.id);
    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        if (oracle_is_on(&w->o, v, host) && w->snap.vms[v].is.kind != VM_AGENT)
            fail_msg("seed %llu: %s goes down with %s on it", (unsigned long long)w->seed, h->is.id,
                     w->snap.vms[v].is.id);
}

static void check_minimums(const struct world *w)
{
    uint32_t n = 0;
    double capacity[RES_COUNT] = {0};

    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        if (!oracle_runs_vms(&w->o, h) || is_about_to_go(&w->snap, h))
            continue;
        n++;
        for (int r = 0; r < RES_COUNT; r++)
            capacity[r] += w->snap.hosts[h].capacity[r];
    }
    if (n < w->policy.dpm.hosts_min || capacity[RES_CPU] < w->policy.dpm.min[RES_CPU] - CLOSE ||
        capacity[RES_MEM] < w->policy.dpm.min[RES_MEM] - CLOSE)
        fail_msg("seed %llu: %u hosts with %g MHz and %g MiB stay on", (unsigned long long)w->seed, n,
                 capacity[RES_CPU], capacity[RES_MEM]);
}

/* Every mandatory rule keeps a host for its VMs, those that are off too, if it had one. */
static void check_rules_keep_a_host(const struct world *w)
{
    for (uint32_t i = 0; i < w->snap.n_rules; i++) {
        const struct rule *rule = &w->snap.rules[i];
        bool had = false;
        bool has = false;
        if (!rule->is.enabled || !rule->is.mandatory || rule->vms.n == 0 ||
            (rule->is.kind != RULE_HOST_AFFINE && rule->is.kind != RULE_HOST_ANTI_AFFINE))
            continue;
        for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
            bool in = false;
            for (uint32_t k = 0; k < rule->hosts.n; k++)
                in = in || rule->hosts.items[k] == h;
            if (in != (rule->is.kind == RULE_HOST_AFFINE) || is_about_to_go(&w->snap, h))
                continue;
            had = had || host_can_run_vms(&w->snap.hosts[h]);
            has = has || oracle_runs_vms(&w->o, h);
        }
        if (had && !has)
            fail_msg("seed %llu: no host is left for the rule %s", (unsigned long long)w->seed, rule->is.id);
    }
}

static void check_mover(const struct world *w, const struct recommendation *rec)
{
    const struct vm_facts *v = &w->snap.vms[rec->vm].is;
    bool rests = v->last_migrated > 0 && w->snap.time - v->last_migrated < w->policy.cool_down_s / 3;

    if (rec->reason == REASON_CONSOLIDATE &&
        (v->kind != VM_NORMAL || v->automation == AUTOMATION_DISABLED || v->automation == AUTOMATION_MANUAL ||
         v->demand_unknown || rests))
        fail_msg("seed %llu: recommendation %u moves a VM that is not moved to save power",
                 (unsigned long long)w->seed, rec->id);
}

/* An empty host that nothing speaks against goes to standby, whatever else does, while there is reason to
 * save. */
static void check_empty_hosts(const struct world *w, const struct scores *after)
{
    bool low = after->low[RES_CPU] > CLOSE && after->low[RES_MEM] > CLOSE;
    bool quiet = w->snap.ha.policy == HA_NONE && w->snap.n_rules == 0 && w->snap.n_pending == 0 &&
                 w->snap.n_migrations == 0 && w->policy.dpm.min[RES_CPU] == 0 &&
                 w->policy.dpm.min[RES_MEM] == 0;
    uint32_t n = 0;

    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        n += oracle_runs_vms(&w->o, h);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        quiet = quiet && w->snap.hosts[h].is.state != HOST_POWERING_ON && !w->o.woken[h];
    for (uint32_t v = 0; v < w->snap.n_vms; v++) /* nor is anything reserved, or kept for failures */
        quiet = quiet && w->snap.vms[v].is.kind != VM_SPARE &&
                w->snap.vms[v].is.alloc[RES_CPU].reservation <= 0 &&
                w->snap.vms[v].is.alloc[RES_MEM].reservation <= 0;
    quiet = quiet && w->snap.n_pools == 0;
    for (uint32_t h = 0; h < w->snap.n_hosts && low && quiet && n > w->policy.dpm.hosts_min; h++) {
        const struct host *host = &w->snap.hosts[h];
        bool empty = true;
        for (uint32_t v = 0; v < w->snap.n_vms; v++)
            empty = empty && (!oracle_is_on(&w->o, v, h) && w->o.home[v] != h);
        if (!oracle_runs_vms(&w->o, h) || !empty || !host->is.wake_verified ||
            host->is.dpm == AUTOMATION_DISABLED ||
            w->snap.time - host->is.on_since < w->policy.dpm.host_uptime_min_s)
            continue;
        fail_msg("seed %llu: %s is empty and stays on", (unsigned long long)w->seed, host->is.id);
    }
}

static void check_plan(struct world *w)
{
    struct scores before;
    struct scores after;
    unsigned off = 0;
    unsigned on = 0;
    bool considered = w->policy.migration_threshold >= 3;

    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (!is_of_power(&w->plan.recommendations[i]))
            oracle_end(&w->o, &w->plan.recommendations[i]);
    score(w, &before);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        if (!is_of_power(rec))
            continue;
        if (rec->vm != IX_NONE)
            check_mover(w, rec);
        oracle_end(&w->o, rec);
        if (rec->action == ACTION_POWER_OFF)
            check_host_may_sleep(w, rec->host);
        off += rec->action == ACTION_POWER_OFF;
        on += rec->action == ACTION_POWER_ON;
    }
    score(w, &after);
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        considered = considered && w->plan.faults[i].code != FAULT_SAMPLES_BAD;
    if (off > 0 && on > 0)
        fail_msg("seed %llu: hosts are woken and put to standby", (unsigned long long)w->seed);
    for (int r = 0; r < RES_COUNT && off > 0; r++)
        if (before.high[r] > 0 || after.high[r] > 0 || !(before.low[r] > 0) ||
            after.low[r] > before.low[r] + CLOSE)
            fail_msg("seed %llu: the scores go from high %g, low %g to %g, %g", (unsigned long long)w->seed,
                     before.high[r], before.low[r], after.high[r], after.low[r]);
    if (on > 0 && !(hypot(after.high[0], after.high[1]) < hypot(before.high[0], before.high[1]) - 1e-10))
        fail_msg("seed %llu: the high scores are %g, %g and were %g, %g before hosts were woken",
                 (unsigned long long)w->seed, after.high[0], after.high[1], before.high[0], before.high[1]);
    if (off > 0) {
        check_minimums(w);
        check_rules_keep_a_host(w);
    }
    if (considered && !(before.high[RES_CPU] > 0) && !(before.high[RES_MEM] > 0))
        check_empty_hosts(w, &after);
    w->tally->plans++;
    w->tally->off += off;
    w->tally->on += on;
}

/* VMs that rise and fall together, and power-offs that were regretted: in some of the clusters each. */
static void random_memory(struct rng *r, struct snapshot *s)
{
    bool together = rng_below(r, 3) == 0;
    bool regret = rng_below(r, 4) == 0;

    for (int w = 0; w < WINDOW_COUNT && together; w++)
        for (int k = 0; k < RES_COUNT; k++)
            s->correlation.of[w][k] = rng_below(r, 3) == 0 ? 1 : rng_unit(r);
    if (!regret)
        return;
    s->regret = (struct regret){.at = s->time - 7200,
                                .busy_at = s->time - (instant_s)rng_range(r, 0, 7200),
                                .quiet_s = rng_range(r, 0, 9000)};
    for (uint32_t v = 0; v < s->n_vms; v++)
        for (int k = 0; k < RES_COUNT; k++)
            s->regret.wanted[k] += s->vms[v].is.demand[k] * rng_range(r, 1, 3);
}

static void check(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w = {.seed = seed, .tally = tally};
    struct rng r = {.state = seed};
    struct err err = {0};

    random_cluster(&r, options, &w.a, &w.snap);
    random_policy(&r, &w.policy);
    random_dpm(&r, &w.policy);
    random_memory(&r, &w.snap);
    assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
    oracle_init(&w.o, &w.snap, &w.plan.policy, &w.a);
    guard_judge(&w.snap, &w.policy, &w.a, &w.guard);
    check_plan(&w);
    arena_release(&w.a);
}

static void run(const struct cluster_options *options, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, options, &t);
    (void)printf("%u plans, %u hosts put to standby, %u woken\n", t.plans, t.off, t.on);
    if (test_is_usual())
        assert_true(t.off > clusters / 16 && t.on > 0);
}

static void test_plain(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 9, .vms_max = 30, .mixed_hosts = true, .sleeping = true, .power = true},
        3000);
}

static void test_everything(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9,
                                  .vms_max = 40,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true,
                                  .power = true},
        3000);
}

/* ---- flat load ---- */

#define PASSES 20
#define SETTLES 8 /* passes after which nothing happens any more */
#define INTERVAL_S 600

static void check_flat(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;

    random_cluster(&r, options, &a, &snap);
    random_policy(&r, &policy);
    random_dpm(&r, &policy);
    policy.moves_max = 0; /* else it takes as many passes as it takes */
    flat_load(&snap);
    bool *put_down = arena_array(&a, bool, snap.n_hosts);
    bool *woken = arena_array(&a, bool, snap.n_hosts);

    for (int pass = 0; pass < PASSES; pass++) {
        struct plan plan;
        struct snapshot then;
        struct err err = {0};
        assert_int_equal(pass_run(&snap, &policy, &a, &plan, &err), 0);
        for (uint32_t i = 0; i < plan.n_recommendations; i++) {
            const struct recommendation *rec = &plan.recommendations[i];
            if (rec->action == ACTION_POWER_ON && rec->reason == REASON_HIGH_UTILIZATION &&
                put_down[rec->host])
                fail_msg("seed %llu: pass %d wakes %s, which an earlier one has put to standby",
                         (unsigned long long)seed, pass, snap.hosts[rec->host].is.id);
            if (rec->action == ACTION_POWER_OFF && woken[rec->host])
                fail_msg("seed %llu: pass %d puts %s to standby, which an earlier one has woken",
                         (unsigned long long)seed, pass, snap.hosts[rec->host].is.id);
            if (rec->vm == IX_NONE && rec->reason != REASON_SPARE_CAPACITY && pass >= SETTLES)
                fail_msg("seed %llu: pass %d still does: %s", (unsigned long long)seed, pass, rec->text);
            if (rec->action == ACTION_POWER_OFF)
                put_down[rec->host] = true;
            if (rec->action == ACTION_POWER_ON)
                woken[rec->host] = true;
            tally->off += rec->action == ACTION_POWER_OFF;
            tally->on += rec->action == ACTION_POWER_ON;
        }
        oracle_carried_out(&plan, snap.time, &a, &then);
        snap = then;
        snap.time += INTERVAL_S;
    }
    arena_release(&a);
}

static void test_flat_load(void **state)
{
    struct tally t = {0};

    (void)state;
    for (unsigned i = 0; i < test_clusters(800); i++)
        check_flat(test_seed() + i,
                   &(struct cluster_options){.hosts_max = 9,
                                             .vms_max = 40,
                                             .mixed_hosts = true,
                                             .rules = (test_seed() + i) % 2 == 1,
                                             .sleeping = true,
                                             .power = true},
                   &t);
    (void)printf("%u hosts put to standby, %u woken\n", t.off, t.on);
    if (test_is_usual())
        assert_true(t.off > 200 && t.on > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_flat_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
