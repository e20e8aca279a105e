/* The plan of a deep search is never worse than the greedy plan, is better on many clusters, and is the same
 * for the same input. */
#include "core/pass.h"
#include "core/plan/plan.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>

#define ROUNDING 1e-9
#define SHOWN 1e-4

struct tally {
    unsigned plans, more_even, fewer, less_memory, exchanges;
};

struct figures {
    unsigned over, vms, mandatory, rules_left_out;
    unsigned faults; /* of constraints that are not met */
    double mb;
};

static struct figures figures_of(const struct snapshot *s, const struct plan *plan)
{
    struct figures f = {0};

    for (uint32_t i = 0; i < plan->after.n_hosts; i++)
        for (int r = 0; r < RES_COUNT; r++)
            f.over += plan->after.hosts[i].n[r] > 1 + ROUNDING;
    f.faults = (unsigned)plan_vms_unprotected(plan->faults, plan->n_faults);
    for (uint32_t i = 0; i < plan->n_faults; i++) {
        enum fault_code code = plan->faults[i].code;
        f.rules_left_out += code == FAULT_PREFERENCE_DROPPED;
        f.faults += code == FAULT_RULE_VIOLATED || code == FAULT_OVERCOMMITTED;
    }
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        bool balances = oracle_is_balancing(rec) || rec->reason == REASON_EXCHANGE;
        f.vms += balances;
        f.mandatory += !balances;
        f.mb += balances ? s->vms[rec->vm].is.consumed_mb : 0;
    }
    return f;
}

/* Preferred rules that another plan does without may hold in it all the same: the greedy plan then corrects
 * without them what the deep one corrects with them. */
static bool has_preferred_rules(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_rules; i++)
        if (s->rules[i].is.enabled && !s->rules[i].is.mandatory)
            return true;
    return false;
}

/* Fewer overloaded hosts, then the target, then less imbalance, then fewer VMs. */
static void compare(uint64_t seed, const struct snapshot *s, const struct plan *greedy,
                    const struct plan *deep, struct tally *t)
{
    struct figures g = figures_of(s, greedy);
    struct figures d = figures_of(s, deep);
    bool reached = greedy->end == CHECK_TARGET_REACHED;
    double more = deep->after.imbalance - greedy->after.imbalance;

    t->plans++;
    if (d.rules_left_out > g.rules_left_out && d.over + d.faults >= g.over + g.faults)
        fail_msg(
            "seed %llu: %u preferred rules left out, %u with a deep search, which corrects nothing by that",
            (unsigned long long)seed, g.rules_left_out, d.rules_left_out);
    if (d.rules_left_out != g.rules_left_out)
        return; /* for what one plan gives up a rule, the other corrects with it, or does not correct */
    if (g.mandatory != d.mandatory && has_preferred_rules(s))
        return;
    if (g.mandatory != d.mandatory)
        fail_msg("seed %llu: %u mandatory moves, %u with a deep search", (unsigned long long)seed,
                 g.mandatory, d.mandatory);
    if (d.over < g.over)
        return;
    bool worse = d.over > g.over || (reached && deep->end != CHECK_TARGET_REACHED) ||
                 (!reached && deep->end != CHECK_TARGET_REACHED && more > SHOWN + ROUNDING) ||
                 (reached && d.vms > g.vms);
    if (worse)
        fail_msg("seed %llu: a deep search makes %u moves to %.6f, with %u loads above 1; the greedy one %u "
                 "to %.6f with %u",
                 (unsigned long long)seed, d.vms, deep->after.imbalance, d.over, g.vms,
                 greedy->after.imbalance, g.over);
    t->more_even += !reached && more < -SHOWN;
    t->fewer += reached && d.vms < g.vms;
    t->less_memory += reached && d.vms == g.vms && d.mb < g.mb - 1;
    for (uint32_t i = 0; i < deep->n_recommendations; i++)
        t->exchanges += deep->recommendations[i].reason == REASON_EXCHANGE;
}

static bool same_plan(const struct plan *x, const struct plan *y)
{
    if (x->n_recommendations != y->n_recommendations || x->after.imbalance != y->after.imbalance)
        return false;
    for (uint32_t i = 0; i < x->n_recommendations; i++)
        if (x->recommendations[i].vm != y->recommendations[i].vm ||
            x->recommendations[i].to != y->recommendations[i].to)
            return false;
    return true;
}

static void search(uint64_t seed, const struct cluster_options *o, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan greedy;
    struct plan deep;
    struct plan again;
    struct err err = {0};

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    assert_int_equal(pass_run(&snap, &policy, &a, &greedy, &err), 0);
    deep_policy(&policy);
    assert_int_equal(pass_run(&snap, &policy, &a, &deep, &err), 0);
    assert_int_equal(pass_run(&snap, &policy, &a, &again, &err), 0);
    if (!same_plan(&deep, &again))
        fail_msg("seed %llu: the same search makes another plan", (unsigned long long)seed);
    compare(seed, &snap, &greedy, &deep, t);
    arena_release(&a);
}

static void test_never_worse(void **state)
{
    static const struct cluster_options cases[] = {
        {.hosts_max = 8, .vms_max = 60},
        {.hosts_max = 6, .vms_max = 40, .mixed_hosts = true, .rules = true, .tight = true, .pairs = true},
        {.hosts_max = 5, .vms_max = 30, .full = true},
        {.hosts_max = 6,
         .vms_max = 40,
         .mixed_hosts = true,
         .rules = true,
         .evacuate = true,
         .in_flight = true,
         .rates = true,
         .ha = true,
         .full = true,
         .scores = true},
    };
    struct tally t = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < test_clusters(test_some(250)); k++)
            search(test_seed() + k, &cases[i], &t);
    (void)printf("%u plans: %u more even, %u of fewer moves, %u with less memory; %u moves of exchanges\n",
                 t.plans, t.more_even, t.fewer, t.less_memory, t.exchanges);
    if (test_is_usual())
        assert_true(t.more_even > test_some(30) && t.fewer > test_some(10) && t.less_memory > test_some(10) &&
                    t.exchanges > test_some(10));
}

/* ---- the budget ---- */

/* To find the move without which a plan is most even, all are tried on all hosts; that counts. A budget of
 * just that many evaluations ends the search. */
static bool check_budget(uint64_t seed)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct pass greedy, p;
    struct proposal from, found;

    random_cluster(&r, &(struct cluster_options){.hosts_max = 8, .vms_max = 60}, &a, &snap);
    random_policy(&r, &policy);
    policy.moves_max = 0;
    pass_decide(&greedy, &snap, &policy, 0, IX_NONE, &a);
    bool counts = greedy.measure.known && greedy.measure.vms > 1 && !greedy.measure.uneven;
    if (counts) {
        pass_prepare(&p, &snap, &policy, 0, IX_NONE, &a);
        plan_moves_for_balance(&greedy, &from);
        p.policy.search_budget = (int64_t)from.n * p.layout.n_on;
        const struct deep_goal goal = {UINT32_MAX, layout_plan_target(&p.layout), policy.migration_threshold};
        deep_search(&p.climb, &p.exchanges, &goal, &from, &a, &found);
        if (found.n > 0 || found.evaluated != (uint64_t)p.policy.search_budget)
            fail_msg("seed %llu: a search evaluates %llu times, expected %lld", (unsigned long long)seed,
                     (unsigned long long)found.evaluated, (long long)p.policy.search_budget);
    }
    arena_release(&a);
    return counts;
}

static void test_budget(void **state)
{
    unsigned counted = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(200); i++)
        counted += check_budget(test_seed() + i);
    if (test_is_usual())
        assert_true(counted > 20);
}

/* ---- power-offs ---- */

struct saved {
    double watts, mb;
    unsigned asleep, woken, vms;
};

/* The hosts of these clusters use as many watts idle as at full load. */
static struct saved saved_by(const struct snapshot *s, const struct plan *plan)
{
    struct saved f = {0};

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        f.woken += rec->action == ACTION_POWER_ON;
        if (rec->action == ACTION_POWER_OFF) {
            double watts = s->hosts[rec->host].is.power_idle_w;
            f.asleep++;
            f.watts += isnan(watts) ? 1 : watts;
        } else if (rec->action == ACTION_MIGRATE) {
            f.vms++;
            f.mb += s->vms[rec->vm].is.consumed_mb;
        }
    }
    return f;
}

static void save_power(uint64_t seed, const struct cluster_options *o, unsigned *more, unsigned *easier)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot snap;
    struct policy policy;
    struct plan plan[3];
    struct err err = {0};

    random_cluster(&r, o, &a, &snap);
    random_policy(&r, &policy);
    random_dpm(&r, &policy);
    for (uint32_t h = 0; h < snap.n_hosts && seed % 2 == 0; h++) {
        struct host_facts *f = &snap.hosts[h].is;
        f->power_curve_w.n = 0;
        f->power_standby_w = 0;
        f->power_idle_w = f->power_peak_w = rng_range(&r, 50, 400);
    }
    for (uint32_t h = 0; h < snap.n_hosts && seed % 2 == 1; h++) {
        snap.hosts[h].is.power_curve_w.n = 0;
        snap.hosts[h].is.power_idle_w = snap.hosts[h].is.power_peak_w = UNKNOWN;
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pass_run(&snap, &policy, &a, &plan[i], &err), 0);
        deep_policy(&policy);
    }
    if (!same_plan(&plan[1], &plan[2]))
        fail_msg("seed %llu: the same search makes another plan", (unsigned long long)seed);
    struct saved greedy = saved_by(&snap, &plan[0]);
    struct saved deep = saved_by(&snap, &plan[1]);
    if (greedy.woken == 0 && deep.watts < greedy.watts - ROUNDING)
        fail_msg("seed %llu: a deep search saves %.1f W with %u hosts, the greedy one %.1f W with %u",
                 (unsigned long long)seed, deep.watts, deep.asleep, greedy.watts, greedy.asleep);
    *more += deep.watts > greedy.watts + ROUNDING;
    *easier += greedy.asleep > 0 && deep.watts <= greedy.watts + ROUNDING && deep.vms <= greedy.vms &&
               deep.mb < greedy.mb - 1;
    arena_release(&a);
}

static void test_fewest_watts(void **state)
{
    static const struct cluster_options cases[] = {
        {.hosts_max = 10, .vms_max = 50, .mixed_hosts = true, .power = true},
        {.hosts_max = 9,
         .vms_max = 40,
         .rules = true,
         .tight = true,
         .sleeping = true,
         .ha = true,
         .power = true},
    };
    unsigned more = 0, easier = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned k = 0; k < test_clusters(400); k++)
            save_power(test_seed() + k, &cases[i], &more, &easier);
    (void)printf("more watts saved in %u plans, less memory moved in %u\n", more, easier);
    if (test_is_usual())
        assert_true(more > 10 && easier > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_worse), cmocka_unit_test(test_budget),
                                       cmocka_unit_test(test_fewest_watts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
