/* Which hosts go to standby together: as many as stand. A lower dpm.hosts_min never leaves more hosts on;
 * where some host could go alone, some host goes; and what explain says of a host that stays on is so. */
#include "core/explain.h"
#include "core/pass.h"
#include "load.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Rounding of sums in another order. */
#define CLOSE 1e-6

struct tally {
    unsigned clusters, off, none, explained[power_check_count];
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct tally *tally;
};

static unsigned sleepers(struct world *w, struct plan *ret)
{
    struct err err = {0};
    unsigned off = 0;

    assert_int_equal(pass_run(&w->snap, &w->policy, &w->a, ret, &err), 0);
    for (uint32_t i = 0; i < ret->n_recommendations; i++)
        off += ret->recommendations[i].action == ACTION_POWER_OFF;
    return off;
}

/* From a minimum that keeps all hosts on down to none. Returns how many sleep then. */
static unsigned check_minimums(struct world *w)
{
    unsigned before = 0;

    for (uint32_t least = w->snap.n_hosts + 1; least-- > 0;) {
        struct plan plan;
        w->policy.dpm.hosts_min = least;
        unsigned off = sleepers(w, &plan);
        if (off < before)
            fail_msg("seed %llu: %u hosts are put to standby with hosts_min %u, %u with one more",
                     (unsigned long long)w->seed, off, least, before);
        before = off;
    }
    return before;
}

/* Whether the host stays on for what others would do to the failover capacity or the order of moves, and yet
 * the plan for the cluster in which DPM may touch no other host puts it to standby. Room for its VMs is not
 * judged: without other candidates they are packed in another way. */
static bool may_go_alone(struct world *w, uint32_t host)
{
    struct plan plan;
    struct host_explanation e;
    struct err err = {0};
    assert_int_equal(explain_host(&w->snap, &w->policy, host, &w->a, &e, &err), 0);
    if (e.check != POWER_SPARE && e.check != POWER_ORDER && e.check != POWER_NOT_LOW)
        return false;
    enum automation *was = arena_array(&w->a, enum automation, w->snap.n_hosts);

    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        was[h] = w->snap.hosts[h].is.dpm;
        if (h != host)
            w->snap.hosts[h].is.dpm = AUTOMATION_DISABLED;
    }
    unsigned off = sleepers(w, &plan);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        w->snap.hosts[h].is.dpm = was[h];
    return off > 0;
}

/* ---- what explain says ---- */

/* Mean demand of the host's VMs over its capacity, after the plan. No pool has a limit. */
static double load_of(const struct snapshot *s, uint32_t host, enum resource r)
{
    double sum = s->hosts[host].own.window[WINDOW_40M][r].mean;

    for (uint32_t v = 0; v < s->n_vms; v++)
        if (s->vms[v].is.state == VM_ON && s->vms[v].host == host)
            sum += fmin(s->vms[v].is.window[WINDOW_40M][r].mean, s->vms[v].is.alloc[r].limit);
    return sum / s->hosts[host].capacity[r];
}

/* Whether the load of a host that is on is between these. */
static bool is_any_within(const struct snapshot *s, enum resource r, double least, double most)
{
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        double load = load_of(s, h, r);
        if (host_can_run_vms(&s->hosts[h]) && load > least && load < most)
            return true;
    }
    return false;
}

/* A host above the range is relieved first; no host may be below it then. */
static bool is_not_low(const struct snapshot *s, const struct dpm_policy *dpm)
{
    double below = (dpm->target - dpm->tolerance) / 100 - CLOSE;
    double above = (dpm->target + dpm->tolerance) / 100 - CLOSE;
    bool low = true;
    bool high = false;

    for (int r = 0; r < RES_COUNT; r++) {
        low = low && is_any_within(s, (enum resource)r, -1, below);
        high = high || is_any_within(s, (enum resource)r, above, NO_LIMIT);
    }
    return high || !low;
}

static double capacity_on(const struct snapshot *s, enum resource r, uint32_t without, uint32_t *ret_hosts)
{
    double sum = 0;

    *ret_hosts = 0;
    for (uint32_t h = 0; h < s->n_hosts; h++)
        if (host_can_run_vms(&s->hosts[h]) && h != without) {
            sum += s->hosts[h].capacity[r];
            ++*ret_hosts;
        }
    return sum;
}

/* then: after the plan. */
static bool is_so(const struct world *w, const struct snapshot *then, const struct host_explanation *e)
{
    const struct dpm_policy *dpm = &w->policy.dpm;
    double capacity[RES_COUNT];
    uint32_t on = 0;

    for (int r = 0; r < RES_COUNT; r++)
        capacity[r] = capacity_on(then, (enum resource)r, e->host, &on);
    switch ((int)e->check) { /* all others depend on more than the cluster after the plan */
    case POWER_NOT_LOW:
        return is_not_low(then, dpm);
    case POWER_HOSTS_MIN:
        return on < dpm->hosts_min;
    case POWER_CPU_MIN:
        return capacity[RES_CPU] < dpm->min[RES_CPU] + CLOSE;
    case POWER_MEM_MIN:
        return capacity[RES_MEM] < dpm->min[RES_MEM] + CLOSE;
    case POWER_FAILOVER_DEMAND:
        return then->ha.policy != HA_NONE;
    case POWER_COST_BENEFIT:
        return isnan(e->benefit[RES_CPU]) || e->off_s <= 0 ||
               e->benefit[RES_CPU] < dpm->ratio * e->cost[RES_CPU] ||
               e->benefit[RES_MEM] < dpm->ratio * e->cost[RES_MEM];
    default:
        return true;
    }
}

static void check_explanations(struct world *w, const struct plan *plan)
{
    struct snapshot then;
    struct err err = {0};

    oracle_carried_out(plan, w->snap.time, &w->a, &then);
    for (uint32_t h = 0; h < w->snap.n_hosts; h++) {
        struct host_explanation e;
        if (!host_can_run_vms(&then.hosts[h]))
            continue;
        assert_int_equal(explain_host(&w->snap, &w->policy, h, &w->a, &e, &err), 0);
        if (!is_so(w, &then, &e))
            fail_msg("seed %llu: %s stays on because of %s, which is not so", (unsigned long long)w->seed,
                     w->snap.hosts[h].is.id, power_check_name(e.check));
        w->tally->explained[e.check]++;
    }
}

/* ---- clusters ---- */

/* One host may fail, and half of the VMs reserve their memory. */
static void reserve_half(struct world *w, struct rng *r)
{
    w->snap.ha = (struct ha_facts){.policy = HA_HOST_FAILURES, .hosts = 1};
    for (uint32_t v = 0; v < w->snap.n_vms; v++) {
        struct vm_facts *f = &w->snap.vms[v].is;
        f->alloc[RES_MEM].reservation = rng_below(r, 2) == 0 ? f->mem_mb : 0;
        f->alloc[RES_MEM].limit = fmax(f->alloc[RES_MEM].limit, f->alloc[RES_MEM].reservation);
    }
}

static void check(uint64_t seed, const struct cluster_options *o, bool half, struct tally *tally)
{
    struct world w = {.seed = seed, .tally = tally};
    struct rng r = {.state = seed};
    struct plan plan;

    random_cluster(&r, o, &w.a, &w.snap);
    policy_default(&w.policy);
    w.policy.dpm.enabled = true;
    w.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    for (uint32_t h = 0; h < w.snap.n_hosts; h++)
        w.snap.hosts[h].is.woken = (struct woken){0};
    for (uint32_t i = 0; i < w.snap.n_pools; i++)
        for (int k = 0; k < RES_COUNT; k++)
            w.snap.pools[i].is.alloc[k].limit = NO_LIMIT;
    if (half)
        reserve_half(&w, &r);
    flat_load(&w.snap);
    unsigned off = check_minimums(&w);
    for (uint32_t h = 0; h < w.snap.n_hosts && off == 0; h++)
        if (may_go_alone(&w, h))
            fail_msg("seed %llu: no host is put to standby, and %s could go alone", (unsigned long long)seed,
                     w.snap.hosts[h].is.id);
    w.policy.dpm.hosts_min = rng_below(&r, 3);
    (void)sleepers(&w, &plan);
    check_explanations(&w, &plan);
    tally->clusters++;
    tally->off += off;
    tally->none += off == 0;
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, bool half, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, o, half, &t);
    (void)printf("%u clusters, %u hosts put to standby, none in %u; those that stay:", t.clusters, t.off,
                 t.none);
    for (int c = 0; c < power_check_count; c++)
        if (t.explained[c] > 0)
            (void)printf(" %s %u", power_check_name((enum power_check)c), t.explained[c]);
    (void)printf("\n");
    if (test_is_usual())
        assert_true(t.off > clusters / 4);
}

static void test_half_reserved(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 10, .vms_max = 60, .matched = true, .power = true}, true, 400);
    run(&(struct cluster_options){.hosts_max = 10, .vms_max = 60, .mixed_hosts = true, .power = true}, true,
        200);
}

static void test_any_policy(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9, .vms_max = 40, .ha = true, .power = true}, false, 300);
    run(
        &(struct cluster_options){
            .hosts_max = 9, .vms_max = 40, .mixed_hosts = true, .ha = true, .rules = true, .power = true},
        false, 200);
}

/* Where room is made, and where VMs have limits of their own, moves depend on one another, too. */
static void test_without_ha(void **state)
{
    const struct cluster_options base = {.hosts_max = 9, .vms_max = 40, .rules = true, .power = true};
    struct cluster_options full = base, cells = base;

    (void)state;
    full.full = full.mixed_hosts = true;
    cells.cells = cells.scores = cells.tight = cells.ft = true;
    run(&base, false, 200);
    run(&full, false, 200);
    run(&cells, false, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_half_reserved),
                                       cmocka_unit_test(test_any_policy), cmocka_unit_test(test_without_ha)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
