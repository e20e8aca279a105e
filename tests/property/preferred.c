/* Preferred rules never make the result worse (§3.3.1): a plan leaves no more violated mandatory rules,
 * overloaded hosts, VMs that cannot leave and missing failover capacity than a plan for the same cluster
 * without preferred rules. Counted in the state that each plan leaves. Preferred rules that contradict each
 * other move no VM; where not all VMs of a rule fit on its host, so many follow that no other one fits. */
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "oracle.h"
#include "random_cluster.h"
#include "restart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct harm {
    unsigned rules, hosts, stuck, faults;
};

static unsigned total(const struct harm *h)
{
    return h->rules + h->hosts + h->stuck + h->faults;
}

static uint32_t place_of(const struct oracle *o, uint32_t vm)
{
    return o->also[vm] != IX_NONE && !o->arrived[vm] ? o->also[vm] : o->at[vm];
}

static bool names(const struct rule *rule, uint32_t vm)
{
    for (uint32_t k = 0; k < rule->vms.n; k++)
        if (rule->vms.items[k] == vm)
            return true;
    return false;
}

/* How many there are why the two must not share a host. */
static unsigned reasons_to_part(const struct snapshot *s, uint32_t x, uint32_t y)
{
    unsigned n = s->vms[x].ft_peer == y;

    for (uint32_t i = 0; i < s->n_rules; i++)
        n += s->rules[i].is.kind == RULE_VM_ANTI_AFFINE && s->rules[i].is.enabled &&
             s->rules[i].is.mandatory && names(&s->rules[i], x) && names(&s->rules[i], y);
    return n;
}

/* VMs where they may not run, and pairs that are where only one of them may be. */
static unsigned violations(const struct oracle *o)
{
    const struct snapshot *s = o->snap;
    unsigned n = 0;

    for (uint32_t v = 0; v < s->n_vms; v++) {
        uint32_t here = o->home[v] == IX_NONE ? IX_NONE : place_of(o, v);
        if (here == IX_NONE)
            continue;
        n += !oracle_may_run(o, v, here, false);
        for (uint32_t other = v + 1; other < s->n_vms; other++)
            n += o->home[other] != IX_NONE && place_of(o, other) == here ? reasons_to_part(s, v, other) : 0;
    }
    return n;
}

/* The hosts that the set of each rule of affinity is on, but one. */
static unsigned scattered(const struct oracle *o)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < o->snap->n_rules; i++) {
        const struct rule *rule = &o->snap->rules[i];
        uint32_t first = IX_NONE;
        if (rule->is.kind != RULE_VM_AFFINE || !rule->is.enabled || !rule->is.mandatory)
            continue;
        for (uint32_t k = 0; k < rule->vms.n; k++) {
            uint32_t vm = rule->vms.items[k];
            if (o->home[vm] == IX_NONE)
                continue;
            first = first == IX_NONE ? place_of(o, vm) : first;
            if (place_of(o, vm) != first) {
                n++;
                break;
            }
        }
    }
    return n;
}

static struct harm count(const struct snapshot *s, const struct plan *plan, struct arena *a)
{
    struct harm h = {0};
    struct oracle o;

    oracle_init(&o, s, &plan->policy, a);
    for (uint32_t i = 0; i < plan->n_recommendations; i++)
        oracle_end(&o, &plan->recommendations[i]);
    h.rules = violations(&o) + scattered(&o);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        if (host_can_run_vms(&s->hosts[i]))
            h.hosts += oracle_norm(&o, i, RES_CPU) > 1 + 1e-9 || oracle_norm(&o, i, RES_MEM) > 1 + 1e-9;
        if (s->hosts[i].is.state != HOST_ENTERING_MAINTENANCE &&
            s->hosts[i].is.state != HOST_ENTERING_STANDBY)
            continue;
        for (uint32_t v = 0; v < s->n_vms; v++)
            h.stuck += o.home[v] != IX_NONE && place_of(&o, v) == i && s->vms[v].is.kind != VM_AGENT;
    }
    h.faults = (unsigned)plan_vms_unprotected(plan->faults, plan->n_faults);
    for (uint32_t i = 0; i < plan->n_faults; i++)
        h.faults += plan->faults[i].code == FAULT_OVERCOMMITTED;
    return h;
}

/* The same cluster; its preferred rules are switched off. */
static void without_preferred(const struct snapshot *s, struct arena *a, struct snapshot *ret)
{
    *ret = *s;
    ret->rules = arena_array(a, struct rule, s->n_rules);
    for (uint32_t i = 0; i < s->n_rules; i++) {
        ret->rules[i] = s->rules[i];
        ret->rules[i].is.enabled = s->rules[i].is.enabled && s->rules[i].is.mandatory;
    }
}

static bool prefers(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_rules; i++)
        if (s->rules[i].is.enabled && !s->rules[i].is.mandatory)
            return true;
    return false;
}

struct tally {
    unsigned compared, harmed, other_plan;
};

static void check(uint64_t seed, const struct cluster_options *options, struct tally *t)
{
    struct arena a = {0};
    struct rng r = {.state = seed};
    struct snapshot s;
    struct snapshot bare;
    struct policy policy;
    struct plan with;
    struct plan without;
    struct err err = {0};

    random_cluster(&r, options, &a, &s);
    random_policy(&r, &policy);
    if (prefers(&s)) {
        without_preferred(&s, &a, &bare);
        assert_int_equal(pass_run(&s, &policy, &a, &with, &err), 0);
        assert_int_equal(pass_run(&bare, &policy, &a, &without, &err), 0);
        struct harm x = count(&s, &with, &a);
        struct harm y = count(&s, &without, &a);
        if (total(&x) > total(&y))
            fail_msg("seed %llu: with preferred rules %u violations, %u hosts short, %u VMs stuck, %u other "
                     "faults; without them %u, %u, %u, %u",
                     (unsigned long long)seed, x.rules, x.hosts, x.stuck, x.faults, y.rules, y.hosts, y.stuck,
                     y.faults);
        t->compared++;
        t->harmed += total(&y) > 0;
        t->other_plan += with.n_recommendations != without.n_recommendations;
    }
    arena_release(&a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, o, &t);
    (void)printf("%u compared, %u with something wrong in the end, %u with another plan\n", t.compared,
                 t.harmed, t.other_plan);
    if (test_is_usual())
        assert_true(t.compared > clusters / 4 && t.harmed > 0 && t.other_plan > clusters / 40);
}

static void test_rules(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 30, .rules = true, .evacuate = true}, 1500);
}

static void test_everything(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 30,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true,
                                  .approved = true},
        1500);
}

/* ---- contradictions ---- */

static struct span span_of(struct arena *a, uint32_t x, uint32_t y)
{
    uint32_t *items = arena_array(a, uint32_t, 2);

    items[0] = x < y ? x : y;
    items[1] = x < y ? y : x;
    return (struct span){items, y == IX_NONE ? 1 : 2};
}

static void add_preferred(struct snapshot *s, enum rule_kind kind, struct span vms, struct span hosts,
                          struct arena *a)
{
    struct rule *rule = &s->rules[s->n_rules];

    rule_facts_default(&rule->is, kind);
    rule->is.id = arena_printf(a, "x%u", s->n_rules++);
    rule->is.name = rule->is.id;
    rule->is.mandatory = false;
    rule->vms = vms;
    rule->hosts = hosts;
}

/* Adds two rules of which one holds at most: about the hosts of a VM, or about two VMs. A VM is in one pair,
 * so that each pair stands for itself. */
static void add_pair(struct rng *r, struct snapshot *s, bool *named, struct arena *a)
{
    uint32_t vm = rng_below(r, s->n_vms);
    uint32_t other = rng_below(r, s->n_vms);
    uint32_t host = rng_below(r, s->n_hosts);
    uint32_t last = rng_below(r, s->n_hosts);
    bool of_vms = rng_below(r, 2) == 0;

    if (named[vm] || (of_vms ? vm == other || named[other] : host == last))
        return;
    named[vm] = true;
    if (of_vms) {
        named[other] = true;
        add_preferred(s, RULE_VM_AFFINE, span_of(a, vm, other), (struct span){0}, a);
        add_preferred(s, RULE_VM_ANTI_AFFINE, span_of(a, vm, other), (struct span){0}, a);
    } else {
        add_preferred(s, RULE_HOST_AFFINE, span_of(a, vm, IX_NONE), span_of(a, host, IX_NONE), a);
        add_preferred(s, RULE_HOST_AFFINE, span_of(a, vm, IX_NONE), span_of(a, last, IX_NONE), a);
    }
}

static void test_contradictions(void **state)
{
    const struct cluster_options o = {.hosts_max = 6, .vms_max = 30, .rules = true, .tight = true};
    unsigned added = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(1500); i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct plan plan;
        struct err err = {0};

        random_cluster(&r, &o, &a, &s);
        random_policy(&r, &policy);
        uint32_t n = 0; /* of the rules that are there, the mandatory ones */
        struct rule *rules = arena_array(&a, struct rule, (size_t)s.n_rules + 8);
        for (uint32_t k = 0; k < s.n_rules; k++)
            if (s.rules[k].is.mandatory)
                rules[n++] = s.rules[k];
        s.rules = rules;
        s.n_rules = n;
        bool *named = arena_array(&a, bool, s.n_vms);
        for (uint32_t v = 0; v < s.n_vms; v++) /* a mandatory rule may decide between the two */
            named[v] = s.vms[v].compatible_given;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t v = 0; v < s.rules[k].vms.n; v++)
                named[s.rules[k].vms.items[v]] = true;
        for (uint32_t k = 0; k < 4; k++)
            add_pair(&r, &s, named, &a);
        assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
        for (uint32_t k = 0; k < plan.n_recommendations; k++)
            if (plan.recommendations[k].rule != IX_NONE && plan.recommendations[k].rule >= n)
                fail_msg("seed %llu: %s moves because of a rule that another one contradicts",
                         (unsigned long long)(test_seed() + i), s.vms[plan.recommendations[k].vm].is.id);
        added += s.n_rules - n;
        arena_release(&a);
    }
    assert_true(!test_is_usual() || added > 1500);
}

/* ---- as many as fit ---- */

/* Hosts with one size; rule VMs on any of them, other VMs not on h0, for which the rule is. */
static void crowd_build(struct rng *r, struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.time = 1767225600, .cluster = "crowd"};
    uint32_t hosts = 3 + rng_below(r, 4);
    uint32_t vms = 3 + rng_below(r, 10);
    struct err err = {0};

    for (uint32_t i = 0; i < hosts; i++) {
        struct seen_host *h = inventory_add_host(&inv, a);
        h->is.id = arena_printf(a, "h%u", i);
        h->is.total[RES_CPU] = 10000;
        h->is.total[RES_MEM] = 262144;
        h->is.cores = 8;
    }
    struct seen_rule *rule = inventory_add_rule(&inv, a);
    rule_facts_default(&rule->is, RULE_HOST_AFFINE);
    rule->is.id = "p";
    rule->is.mandatory = false;
    const char **ids = arena_array(a, const char *, vms);
    for (uint32_t i = 0; i < vms; i++) {
        struct seen_vm *v = inventory_add_vm(&inv, a);
        bool prefers_h0 = i == 0 || rng_below(r, 3) > 0;
        v->is.vcpus = 8;
        v->is.mem_mb = 4096;
        vm_facts_default(&v->is);
        v->is.id = arena_printf(a, "v%02u", i);
        v->is.state = VM_ON;
        v->is.demand[RES_CPU] = 100 + rng_below(r, 2000);
        v->is.demand[RES_MEM] = 1024;
        v->is.consumed_mb = 1024;
        vm_facts_windows(&v->is);
        v->host = arena_printf(a, "h%u", prefers_h0 ? rng_below(r, hosts) : 1 + rng_below(r, hosts - 1));
        if (prefers_h0)
            ids[rule->vms.n++] = v->is.id;
    }
    rule->vms.items = ids;
    const char **host = arena_array(a, const char *, 1);
    host[0] = "h0";
    rule->hosts = (struct ids){host, 1};
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static void test_as_many_as_fit(void **state)
{
    unsigned spared = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(1500); i++) {
        struct arena a = {0};
        struct rng r = {.state = test_seed() + i};
        struct snapshot s;
        struct policy policy;
        struct plan plan;
        struct oracle o;
        struct err err = {0};

        crowd_build(&r, &a, &s);
        policy_default(&policy);
        assert_int_equal(pass_run(&s, &policy, &a, &plan, &err), 0);
        oracle_init(&o, &s, &policy, &a);
        for (uint32_t k = 0; k < plan.n_recommendations; k++)
            oracle_end(&o, &plan.recommendations[k]);
        double load = oracle_norm(&o, 0, RES_CPU);
        bool all = true;
        for (uint32_t k = 0; k < s.rules[0].vms.n; k++) {
            uint32_t vm = s.rules[0].vms.items[k];
            double more = o.entitlement[RES_CPU][vm] / s.hosts[0].capacity[RES_CPU];
            all = all && o.at[vm] == 0;
            if (o.at[vm] != 0 && load + more <= 1)
                fail_msg("seed %llu: %s (%.3f) would fit on h0 (%.3f)", (unsigned long long)(test_seed() + i),
                         s.vms[vm].is.id, more, load);
        }
        bool named = false;
        for (uint32_t k = 0; k < plan.n_faults; k++)
            named = named || (plan.faults[k].code == FAULT_PREFERENCE_DROPPED &&
                              plan.faults[k].found->because->code == FIND_RULE_OVERLOADS);
        assert_true(load <= 1 + 1e-9 && named == !all);
        spared += !all;
        arena_release(&a);
    }
    assert_true(!test_is_usual() || spared > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_as_many_as_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
