/* The plan of a deep search is never worse than the greedy plan, is better on many clusters, and is the same
 * for the same input. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ROUNDING 1e-9
#define SHOWN 1e-4

struct tally {
    unsigned plans, more_even, fewer, less_memory, exchanges;
};

struct figures {
    unsigned over, vms, mandatory, rules_left_out;
    double mb;
};

static struct figures figures_of(const struct snapshot *s, const struct plan *plan)
{
    struct figures f = {0};

    for (uint32_t i = 0; i < plan->after.n_hosts; i++)
        for (int r = 0; r < RES_COUNT; r++)
            f.over += plan->after.hosts[i].n[r] > 1 + ROUNDING;
    for (uint32_t i = 0; i < plan->n_faults; i++)
        f.rules_left_out += plan->faults[i].code == FAULT_PREFERENCE_DROPPED;
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        bool balances = oracle_is_balancing(rec) || rec->reason == REASON_EXCHANGE;
        f.vms += balances;
        f.mandatory += !balances;
        f.mb += balances ? s->vms[rec->vm].is.consumed_mb : 0;
    }
    return f;
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
    if (d.rules_left_out > g.rules_left_out)
        fail_msg("seed %llu: %u preferred rules left out, %u with a deep search", (unsigned long long)seed,
                 g.rules_left_out, d.rules_left_out);
    if (d.rules_left_out < g.rules_left_out)
        return; /* the deep search relieves a host for which the greedy plan gives up a rule */
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
        for (unsigned k = 0; k < test_clusters(250); k++)
            search(test_seed() + k, &cases[i], &t);
    (void)printf("%u plans: %u more even, %u of fewer moves, %u with less memory; %u moves of exchanges\n",
                 t.plans, t.more_even, t.fewer, t.less_memory, t.exchanges);
    if (test_is_usual())
        assert_true(t.more_even > 30 && t.fewer > 10 && t.less_memory > 10 && t.exchanges > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_worse)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
