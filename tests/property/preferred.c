/* Preferred rules never make the result worse (§3.3.1): a plan leaves no more violated mandatory rules,
 * overloaded hosts, VMs that cannot leave and missing failover capacity than a plan for the same cluster
 * without preferred rules. Counted in the state that each plan leaves. */
#include "core/pass.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
