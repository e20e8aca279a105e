/* Flat load, pass after pass: a power-off stands. No later pass wakes a host that an earlier one put to
 * standby, no plan puts a host to standby that a fault of the same plan names, and whichever hosts the
 * failover policy allows to be lost, the others could serve all demand. No optional move returns a VM to the
 * host that it left within the cool-down. With and without moves for balance. */
#include "core/demand/sample_guard.h"
#include "core/pass.h"
#include "load.h"
#include "model/snapshot_build.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define PASSES 12
#define INTERVAL_S 600
#define CLOSE 1e-3
#define PRIORITY_MANDATORY 1

struct tally {
    unsigned clusters, off, on, moves;
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    int pass;
    bool *asleep; /* by host: an earlier pass put it to standby */
    struct tally *tally;
};

static const char *host_id(const struct world *w, uint32_t host)
{
    return w->snap.hosts[host].is.id;
}

static const char *balances_name(const struct world *w)
{
    return w->policy.optional_moves ? "balanced" : "not balanced";
}

static void check_wake(const struct world *w, const struct recommendation *rec)
{
    if (w->asleep[rec->host])
        fail_msg("seed %llu, ha %u, %s: pass %d wakes %s again: %s", (unsigned long long)w->seed,
                 w->snap.ha.hosts, balances_name(w), w->pass, host_id(w, rec->host),
                 reason_name(rec->reason));
    w->tally->on++;
}

static void check_move(const struct world *w, const struct recommendation *rec)
{
    const struct vm *v = &w->snap.vms[rec->vm];
    bool rests = v->is.last_migrated > 0 && w->snap.time - v->is.last_migrated < w->policy.cool_down_s;

    if (rests && v->left_host == rec->to && rec->priority != PRIORITY_MANDATORY)
        fail_msg("seed %llu, ha %u, %s: pass %d moves %s back to %s: %s", (unsigned long long)w->seed,
                 w->snap.ha.hosts, balances_name(w), w->pass, v->is.id, host_id(w, rec->to),
                 reason_name(rec->reason));
    w->tally->moves++;
}

static void check_sleep(const struct world *w, const struct plan *plan, uint32_t host)
{
    for (uint32_t i = 0; i < plan->n_faults; i++)
        if (plan->faults[i].host == host)
            fail_msg("seed %llu, ha %u, %s: pass %d puts %s to standby, which the fault %s names",
                     (unsigned long long)w->seed, w->snap.ha.hosts, balances_name(w), w->pass,
                     host_id(w, host), fault_code_name(plan->faults[i].code));
    w->asleep[host] = true;
    w->tally->off++;
}

/* The VMs' demand, within their own limits; the pools have none. */
static double demand_of_all(const struct world *w, const struct snapshot *snap, enum resource r)
{
    struct arena a = {0};
    struct guard guard;
    double sum = 0;

    sample_guard_judge(snap, &w->policy, &a, &guard); /* its figures are those that decide */
    const struct snapshot *s = guard.snap;
    for (uint32_t v = 0; v < s->n_vms; v++)
        if (vm_takes_part(s, &s->vms[v]))
            sum += fmin(s->vms[v].is.window[WINDOW_40M][r].mean, s->vms[v].is.alloc[r].limit);
    arena_release(&a);
    return sum;
}

/* Capacity of all hosts that run VMs, or may after a failure, but those two. IX_NONE: no such host. */
static double capacity_without(const struct snapshot *s, enum resource r, uint32_t lost, uint32_t other)
{
    double sum = 0;

    for (uint32_t h = 0; h < s->n_hosts; h++)
        if (s->hosts[h].is.state == HOST_ON && h != lost && h != other)
            sum += host_room(&s->hosts[h], r);
    return sum;
}

/* In the state after the plan. */
static void check_losses(const struct world *w, const struct snapshot *s, uint32_t lost, uint32_t other)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double part = s->ha.policy == HA_PERCENT ? 1 - s->ha.percent[r] / 100 : 1;
        double left = part * capacity_without(s, (enum resource)r, lost, other);
        double demand = demand_of_all(w, s, (enum resource)r);
        if (demand > left + CLOSE)
            fail_msg("seed %llu, ha %u, %s: after pass %d the loss of %s%s%s leaves %g for a demand of %g",
                     (unsigned long long)w->seed, s->ha.hosts, balances_name(w), w->pass,
                     lost == IX_NONE ? "a part" : s->hosts[lost].is.id, other == IX_NONE ? "" : " and ",
                     other == IX_NONE ? "" : s->hosts[other].is.id, left, demand);
    }
}

/* Every set of hosts that may be lost, for policies that allow two at most. */
static void check_demand(const struct world *w, const struct snapshot *s)
{
    bool failures = s->ha.policy == HA_HOST_FAILURES && s->ha.hosts > 0 && s->ha.hosts <= 2;

    if (s->ha.policy == HA_PERCENT)
        check_losses(w, s, IX_NONE, IX_NONE);
    for (uint32_t h = 0; h < s->n_hosts && failures; h++) {
        if (s->hosts[h].is.state != HOST_ON)
            continue;
        if (s->ha.hosts == 1)
            check_losses(w, s, h, IX_NONE);
        for (uint32_t k = h + 1; k < s->n_hosts && s->ha.hosts == 2; k++)
            if (s->hosts[k].is.state == HOST_ON)
                check_losses(w, s, h, k);
    }
}

static void check_plan(struct world *w, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        const struct recommendation *rec = &plan->recommendations[i];
        if (rec->action == ACTION_MIGRATE)
            check_move(w, rec);
        if (rec->action == ACTION_POWER_ON)
            check_wake(w, rec);
        if (rec->action == ACTION_POWER_OFF)
            check_sleep(w, plan, rec->host);
    }
}

static void run_passes(struct world *w)
{
    w->asleep = arena_array(&w->a, bool, w->snap.n_hosts);
    for (w->pass = 0; w->pass < PASSES; w->pass++) {
        struct plan plan;
        struct snapshot then;
        struct err err = {0};
        assert_int_equal(pass_run(&w->snap, &w->policy, &w->a, &plan, &err), 0);
        unsigned off = w->tally->off;
        check_plan(w, &plan);
        oracle_carried_out(&plan, w->snap.time, &w->a, &then);
        if (w->tally->off > off)
            check_demand(w, &then);
        w->snap = then;
        w->snap.time += INTERVAL_S;
    }
    w->tally->clusters++;
}

/* failures: hosts that may fail; 0: the random policy of the cluster. */
static void check(uint64_t seed, const struct cluster_options *o, uint32_t failures, bool balances,
                  struct tally *tally)
{
    struct world w = {.seed = seed, .tally = tally};
    struct rng r = {.state = seed};

    random_cluster(&r, o, &w.a, &w.snap);
    policy_default(&w.policy);
    w.policy.dpm.enabled = true;
    w.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    w.policy.optional_moves = balances;
    if (failures > 0) {
        w.snap.ha.policy = HA_HOST_FAILURES;
        w.snap.ha.hosts = failures;
        snapshot_build_promise(&w.snap);
    }
    for (uint32_t h = 0; h < w.snap.n_hosts; h++) {
        w.snap.hosts[h].is.woken = (struct woken){0};
        w.snap.hosts[h].failover = w.snap.hosts[h].failover && failures == 0;
    }
    for (uint32_t i = 0; i < w.snap.n_pools; i++)
        for (int k = 0; k < RES_COUNT; k++)
            w.snap.pools[i].is.alloc[k].limit = NO_LIMIT;
    flat_load(&w.snap);
    run_passes(&w);
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally t = {0};

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++)
        for (uint32_t failures = 0; failures <= (o->ha ? 2 : 0); failures++)
            for (int balances = 0; balances < 2; balances++)
                check(test_seed() + i, o, failures, balances, &t);
    (void)printf("%u clusters, %u hosts put to standby, %u woken, %u moves\n", t.clusters, t.off, t.on,
                 t.moves);
    if (test_is_usual())
        assert_true(t.off > clusters / 2);
}

static void test_equal_hosts(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9, .vms_max = 40, .ha = true, .sleeping = true, .power = true},
        400);
}

static void test_mixed_hosts(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 9, .vms_max = 40, .mixed_hosts = true, .ha = true, .sleeping = true, .power = true},
        400);
}

/* Rules and evacuations that wait for room, whatever else is reserved. */
static void test_without_ha(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9,
                                  .vms_max = 30,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .ft = true,
                                  .sleeping = true,
                                  .power = true},
        400);
}

static void test_rules_and_evacuations(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 9,
                                  .vms_max = 30,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .ha = true,
                                  .sleeping = true,
                                  .power = true},
        400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_hosts),
        cmocka_unit_test(test_mixed_hosts),
        cmocka_unit_test(test_rules_and_evacuations),
        cmocka_unit_test(test_without_ha),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
