/* Power management against a brute-force check: a host that may never be put to standby stays on, a host
 * is empty before it goes to standby, no other host rises above its range for that, hosts that receive VMs
 * can serve them when they rise together, and waking relieves. */
#include "core/demand/sample_guard.h"
#include "core/divvy/divvy.h"
#include "core/explain.h"
#include "core/pass.h"
#include "core/power/sleep_worth.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CLOSE 1e-7
#define DEVIATIONS 2
#define WINDOW_S 2400

struct tally {
    unsigned plans, off, on, empty, room, stay;
};

/* Of a VM, within all limits. */
struct vm_figures {
    double mean, stddev, most;
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    struct guard guard; /* its figures are those that decide */
    struct vm_figures *figures[WINDOW_COUNT][RES_COUNT];
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

static double own_stddev(const struct demand_stats *d, double limit)
{
    double most = isinf(limit) ? INFINITY : fmin(d->mean, limit) * (limit - fmin(d->mean, limit));

    return sqrt(fmin(d->stddev * d->stddev, most)); /* more is not to be had anywhere */
}

/* ---- what pools let their VMs have, by trial ---- */

/* What the children of a pool have with this λ. */
static double divide_at(const struct divvy_tree *t, const struct divvy_node *node, const double *wants,
                        double lambda, double *ret)
{
    double sum = 0;

    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++) {
        ret[c] = fmin(fmax(lambda * t->nodes[c].weight, fmin(t->nodes[c].reserve, wants[c])), wants[c]);
        sum += ret[c];
    }
    return sum;
}

static void give(const struct divvy_tree *t, uint32_t i, const double *wants, double *has)
{
    const struct divvy_node *node = &t->nodes[i];
    double less = 0;
    double more = 1e12;
    double reserved = i > 0 ? divide_at(t, node, wants, 0, has) : 0;

    if (reserved > has[i] && i > 0) /* more than the limit: each gets as much less */
        for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++)
            has[c] *= has[i] / reserved;
    else if (i == 0 || divide_at(t, node, wants, more, has) <= has[i])
        for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++)
            has[c] = wants[c];
    else
        for (int k = 0; k < 200; k++) {
            double lambda = (less + more) / 2;
            *(divide_at(t, node, wants, lambda, has) > has[i] ? &more : &less) = lambda;
        }
    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++)
        if (t->nodes[c].n_children > 0)
            give(t, c, wants, has);
}

static double want(const struct divvy_tree *t, uint32_t i, const double *of_vms, double *wants)
{
    const struct divvy_node *node = &t->nodes[i];

    wants[i] = node->kind == DIVVY_VM ? of_vms[node->ix] : 0;
    for (uint32_t c = node->first_child; c < node->first_child + node->n_children; c++)
        wants[i] += want(t, c, of_vms, wants);
    if (i > 0 && node->kind == DIVVY_POOL)
        wants[i] = fmin(wants[i], node->set.limit);
    return wants[i];
}

static bool is_below(const struct divvy_tree *t, uint32_t i, uint32_t pool)
{
    while (i != pool && i != 0)
        i = t->nodes[i].parent;
    return i == pool;
}

/* Of the sum over a pool: pair by pair. */
static void keep_within(const struct world *w, const struct divvy_tree *t, uint32_t pool, enum window window,
                        enum resource r)
{
    struct vm_figures *f = w->figures[window][r];
    double limit = t->nodes[pool].set.limit;
    double mean = 0, most = 0, variance = 0;

    for (uint32_t i = 1; i < t->n; i++) {
        if (t->nodes[i].kind != DIVVY_VM || !is_below(t, i, pool))
            continue;
        mean += f[t->nodes[i].ix].mean;
        most += f[t->nodes[i].ix].most;
        for (uint32_t k = 1; k < t->n; k++)
            if (t->nodes[k].kind == DIVVY_VM && is_below(t, k, pool))
                variance += (i == k ? 1 : w->snap.correlation.of[window][r]) * f[t->nodes[i].ix].stddev *
                            f[t->nodes[k].ix].stddev;
    }
    double bound = fmax(mean * (limit - mean), 0);
    for (uint32_t i = 1; i < t->n; i++)
        if (t->nodes[i].kind == DIVVY_VM && is_below(t, i, pool)) {
            f[t->nodes[i].ix].stddev *= variance > bound ? sqrt(bound / variance) : 1;
            f[t->nodes[i].ix].most *= most > limit ? limit / most : 1;
        }
}

static void find_figures(struct world *w, enum window window, enum resource r)
{
    const struct snapshot *s = w->guard.snap;
    struct vm_figures *f = w->figures[window][r] = arena_array(&w->a, struct vm_figures, s->n_vms);
    double *mean = arena_array(&w->a, double, s->n_vms);
    struct divvy_tree t;

    for (uint32_t v = 0; v < s->n_vms; v++) {
        const struct demand_stats *d = &s->vms[v].is.window[window][r];
        double limit = s->vms[v].is.alloc[r].limit;
        mean[v] = fmin(d->mean, limit);
        f[v] = (struct vm_figures){mean[v], own_stddev(d, limit), fmin(d->max, limit)};
    }
    divvy_build(s, r, mean, &w->a, &t); /* for its shares and reservations */
    double *wants = arena_array(&w->a, double, t.n);
    double *has = arena_array(&w->a, double, t.n);
    (void)want(&t, 0, mean, wants);
    give(&t, 0, wants, has);
    for (uint32_t i = t.n; i-- > 1;)
        if (t.nodes[i].kind == DIVVY_VM)
            f[t.nodes[i].ix].mean = has[i];
    for (uint32_t i = t.n; i-- > 1;) /* children before their parents */
        if (t.nodes[i].kind == DIVVY_POOL && !isinf(t.nodes[i].set.limit))
            keep_within(w, &t, i, window, r);
}

/* Pair by pair: the covariance of two VMs is ρ times their standard deviations. */
static double utilization(const struct world *w, uint32_t host, enum window window, enum resource r)
{
    const struct oracle *o = &w->o;
    double mean = 0;
    double alone = 0;
    double pairs = 0;
    double most = 0;

    const struct vm_figures *f = w->figures[window][r];
    for (uint32_t v = 0; v < o->snap->n_vms; v++) {
        if (o->home[v] == IX_NONE || will_be(o, v) != host)
            continue;
        mean += f[v].mean;
        most += f[v].most;
        alone += f[v].stddev * f[v].stddev;
        for (uint32_t u = 0; u < o->snap->n_vms; u++)
            if (u != v && o->home[u] != IX_NONE && will_be(o, u) == host)
                pairs += w->snap.correlation.of[window][r] * f[v].stddev * f[u].stddev;
    }
    double independent = mean + DEVIATIONS * sqrt(alone);
    double correlated = fmin(mean + DEVIATIONS * sqrt(alone + pairs), most);
    return fmax(independent, correlated) / o->snap->hosts[host].capacity[r];
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
    return rec->reason == REASON_CONSOLIDATE || rec->reason == REASON_HIGH_UTILIZATION ||
           oracle_makes_room_to_sleep(rec);
}

/* What was woken because it was needed stays on for 40 minutes, for a person as long as is set; nothing is
 * expected in these clusters. */
static bool is_wanted(const struct world *w, const struct host_facts *f)
{
    bool no_such = f->woken.at == 0 || f->woken.reason == REASON_EXPECTED_DEMAND ||
                   f->woken.reason == REASON_READY_BY || f->woken.reason == REASON_WAKE_TEST;
    instant_s least = f->woken.reason == REASON_ASKED ? w->policy.dpm.asked_on_s : WINDOW_S;

    return !no_such && w->snap.time - f->woken.at < least;
}

static void check_host_may_sleep(const struct world *w, uint32_t host)
{
    const struct host *h = &w->snap.hosts[host];
    enum automation dpm = h->is.dpm == AUTOMATION_INHERIT ? w->policy.dpm.automation : h->is.dpm;

    if (h->is.state != HOST_ON || h->failover || h->is.vsan || h->is.serves_storage || host_is_avoided(h) ||
        !h->is.wake_verified || dpm == AUTOMATION_DISABLED || is_about_to_go(&w->snap, host) ||
        is_wanted(w, &h->is))
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
    bool rests = v->last_migrated > 0 && w->snap.time - v->last_migrated < w->policy.cool_down_s;

    if (oracle_forbids(&w->snap, rec))
        fail_msg("seed %llu: recommendation %u moves %s against its facts", (unsigned long long)w->seed,
                 rec->id, v->id);
    if ((rec->reason == REASON_CONSOLIDATE || oracle_makes_room_to_sleep(rec)) &&
        (v->kind != VM_NORMAL || v->automation == AUTOMATION_DISABLED || v->automation == AUTOMATION_MANUAL ||
         v->mandatory_only || v->demand_unknown || rests))
        fail_msg("seed %llu: recommendation %u moves a VM that is not moved to save power",
                 (unsigned long long)w->seed, rec->id);
}

/* Hosts that receive VMs so that another goes to standby can serve all of their VMs if these rise as they did
 * before. Past quiet times may say that the time off pays for more. */
static void check_rises(const struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        if (rec->reason != REASON_CONSOLIDATE || rec->action != ACTION_MIGRATE || w->snap.n_quiet > 0)
            continue;
        for (int r = 0; r < RES_COUNT; r++) {
            double risen = 0;
            double able = 0;
            for (uint32_t v = 0; v < w->snap.n_vms; v++) {
                const struct vm_facts *f = &w->snap.vms[v].is;
                if (w->o.home[v] == IX_NONE || will_be(&w->o, v) != rec->to)
                    continue;
                risen += w->figures[WINDOW_40M][r][v].mean + (isnan(f->rise[r]) ? 0 : f->rise[r]);
                able += fmin(sample_guard_most(&w->snap, v, (enum resource)r), f->alloc[r].limit);
            }
            if (fmin(risen, able) > w->snap.hosts[rec->to].capacity[r] * (1 + 1e-6))
                fail_msg("seed %llu: %s takes VMs that would want %g %s together",
                         (unsigned long long)w->seed, w->snap.hosts[rec->to].is.id, risen,
                         r == RES_CPU ? "MHz" : "MiB");
        }
    }
}

/* What the status says of hosts that past quiet times keep on is what the explanation of each host says, and
 * nothing once each quiet time is expected to last as long as the engine was told that is enough. */
static void check_stays_on(const struct world *w)
{
    const struct finding *f = w->plan.stays_on;
    double enough_s = sleep_worth_enough_s(&w->snap, &w->policy);
    bool enough = true;
    double hosts = 0;

    for (uint32_t i = 0; i < w->snap.n_quiet; i++)
        enough = enough && w->snap.quiet[i].lasts_s >= enough_s;
    if (!f)
        return;
    if (enough)
        fail_msg("seed %llu: the past keeps hosts on for ever", (unsigned long long)w->seed);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        struct host_explanation e;
        struct arena a = {0};
        struct err err = {0};
        assert_int_equal(explain_host(&w->snap, &w->policy, h, &a, &e, &err), 0);
        hosts += e.check == POWER_QUIET_SHORT || e.check == POWER_MISSED_BEFORE;
        arena_release(&a);
    }
    if (f->figures[finding_find_figure(f, FIGURE_HOSTS)].value != hosts ||
        f->figures[finding_find_figure(f, FIGURE_UNTIL)].value <= (double)w->snap.time)
        fail_msg("seed %llu: %g hosts are explained so", (unsigned long long)w->seed, hosts);
    w->tally->stay++;
}

/* While a host that was woken for load must stay on, no other goes to standby. */
static bool was_woken_for_load(const struct host_facts *f)
{
    return f->woken.at != 0 &&
           (f->woken.reason == REASON_HIGH_UTILIZATION || f->woken.reason == REASON_EXPECTED_DEMAND);
}

/* Whether past quiet times tell against a power-off of this host. The plan may have put others to standby. */
static bool expects_rise(const struct world *w, uint32_t without)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double left = 0;
        const struct quiet *is = NULL;
        for (uint32_t h = 0; h < w->snap.n_hosts; h++)
            if (h != without && oracle_runs_vms(&w->o, h))
                left += w->snap.hosts[h].capacity[r];
        left *= (w->policy.dpm.target + w->policy.dpm.tolerance) / 100;
        for (uint32_t i = 0; i < w->snap.n_quiet; i++)
            if (w->snap.quiet[i].level[r] <= left)
                is = &w->snap.quiet[i];
        if (w->snap.n_quiet > 0 && (!is || (is->of > 0 && is->lasts_s < (double)w->policy.dpm.off_min_s)))
            return true;
    }
    return false;
}

/* An empty host goes to standby if no rule keeps it on, while there is reason to save. */
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
        quiet = quiet && w->snap.hosts[h].is.state != HOST_POWERING_ON && !w->o.woken[h] &&
                !was_woken_for_load(&w->snap.hosts[h].is);
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
            host->is.dpm == AUTOMATION_DISABLED || is_wanted(w, &host->is) || expects_rise(w, h))
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
        w->tally->room += oracle_makes_room_to_sleep(rec);
        on += rec->action == ACTION_POWER_ON;
    }
    score(w, &after);
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        considered = considered && w->plan.faults[i].code != FAULT_SAMPLES_BAD;
    if (off > 0 && on > 0)
        fail_msg("seed %llu: hosts are woken and put to standby", (unsigned long long)w->seed);
    for (int r = 0; r < RES_COUNT && off > 0; r++) /* what was above the range was relieved in the plan */
        if (after.high[r] > 0 || !(before.low[r] > 0) || after.low[r] > before.low[r] + CLOSE)
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
    check_rises(w);
    check_stays_on(w);
    w->tally->plans++;
    w->tally->off += off;
    w->tally->on += on;
}

/* VMs that rise and fall together, and past quiet times: in some of the clusters each. */
static void random_memory(struct rng *r, struct arena *a, struct snapshot *s)
{
    bool correlated = rng_below(r, 3) == 0;
    bool quiet = rng_below(r, 4) == 0;

    for (int w = 0; w < WINDOW_COUNT && correlated; w++)
        for (int k = 0; k < RES_COUNT; k++)
            s->correlation.of[w][k] = rng_below(r, 3) == 0 ? 1 : rng_unit(r);
    if (quiet)
        random_quiet(r, a, s);
    bool rises = rng_below(r, 2) == 0;
    for (uint32_t i = 0; i < s->n_vms && rises; i++)
        for (int k = 0; k < RES_COUNT; k++)
            s->vms[i].is.rise[k] = s->vms[i].is.demand[k] * rng_range(r, -0.5, 2);
}

static void check(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w = {.seed = seed, .tally = tally};
    struct rng r = {.state = seed};
    struct err err = {0};

    random_cluster(&r, options, &w.a, &w.snap);
    for (uint32_t h = 0; h < w.snap.n_hosts; h++) /* utilization() is of VMs alone */
        w.snap.hosts[h].own = (struct own_use){0};
    random_policy(&r, &w.policy);
    random_dpm(&r, &w.policy);
    random_memory(&r, &w.a, &w.snap);
    if (options->deep)
        deep_policy(&w.policy);
    assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
    oracle_init(&w.o, &w.snap, &w.plan.policy, &w.a);
    sample_guard_judge(&w.snap, &w.policy, &w.a, &w.guard);
    for (int window = 0; window < WINDOW_COUNT; window++)
        for (int k = 0; k < RES_COUNT; k++)
            find_figures(&w, (enum window)window, (enum resource)k);
    check_plan(&w);
    arena_release(&w.a);
}

static void run(const struct cluster_options *options, unsigned clusters)
{
    struct tally t = {0};

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, options, &t);
    (void)printf(
        "%u plans, %u hosts put to standby with %u moves to make room, %u woken, in %u hosts stay on\n",
        t.plans, t.off, t.room, t.on, t.stay);
    if (test_is_usual())
        assert_true(t.off > clusters / 16 && t.on > 0 && (t.stay > 0 || options->rules) &&
                    (t.room > 0 || !options->tight));
}

static void test_plain(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 9, .vms_max = 30, .mixed_hosts = true, .sleeping = true, .power = true},
        3000);
}

/* Memory and reservations are scarce, so that a VM may fit only after another one has moved. */
static void test_full(void **state)
{
    (void)state;
    run(&(struct cluster_options){9, 40, .tight = true, .sleeping = true, .power = true}, 3000);
}

static void test_everything(void **state)
{
    (void)state;
    struct cluster_options o = {.hosts_max = 9,
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
                                .power = true};
    for (int i = 0; i < 2; i++, o.deep = true)
        run(&o, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_full),
                                       cmocka_unit_test(test_everything)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
