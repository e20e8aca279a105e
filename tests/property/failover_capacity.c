/* Failover capacity (§3.3.2): if none is missing at the start, then at every moment of any order that
 * depends_on allows the VMs of a lost host can restart on the others. Capacity that is reported missing is
 * missing but for rare faults in full clusters, where the greedy search overlooks an arrangement, and
 * capacity that is reported restored is restored. Where the source and the configuration have a policy each,
 * both hold: each is judged by itself. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"
#include "restart.h"
#include "walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ORDERS 4
#define ROUNDING 1e-5

struct tally {
    unsigned kept, moves, mended, named, unjudged;
    unsigned too_careful; /* reported missing, though a search of all arrangements finds one */
};

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    struct tally *tally;
    struct restart restart[RESTART_VIEWS];
};

static const char *const policy_of[RESTART_OF_BOTH] = {
    [RESTART_OF_SOURCE] = "source", [RESTART_OF_CONFIGURATION] = "configuration"};

/* ---- at every moment ---- */

static void check_moment(void *ctx, uint32_t i, bool begins)
{
    struct world *w = ctx;
    const struct recommendation *rec = &w->plan.recommendations[i];

    if (oracle_is_power(rec) || !restart_minds(&w->restart[RESTART_OF_BOTH], rec->vm))
        return;
    for (int k = 0; k < RESTART_OF_BOTH; k++) {
        uint32_t host = restart_first_without(&w->restart[k], false);
        if (host != IX_NONE)
            fail_msg("seed %llu: when recommendation %u has %s, not all VMs could be restarted as the %s "
                     "asks if %s were lost",
                     (unsigned long long)w->seed, rec->id, begins ? "begun" : "succeeded", policy_of[k],
                     restart_what_is_lost(&w->restart[k], host));
    }
    w->tally->moves += begins;
}

static void walk_plan(struct world *w, struct rng *r)
{
    struct walk orders;

    walk_init(&orders, &w->plan, &w->o, check_moment, w, &w->a);
    for (int i = 0; i < ORDERS && w->plan.n_recommendations > 0; i++)
        walk_by_chance(&orders, r);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        walk_early(&orders, i);
    oracle_reset(&w->o);
}

/* ---- what is missing ---- */

static double taken_by_all(const struct world *w, enum oracle_need need)
{
    double sum = 0;

    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        sum += w->snap.hosts[h].is.state == HOST_DISCONNECTED
                   ? 0
                   : oracle_taken(&w->o, h, need) + oracle_own_use(&w->o, h, need);
    for (uint32_t v = 0; v < w->snap.n_vms; v++) /* on its way: it is one */
        sum -= w->o.at[v] != IX_NONE && w->o.also[v] != IX_NONE ? oracle_needs(&w->o, v, need) : 0;
    return sum;
}

/* What VMs and hosts take against what the share leaves, with the hosts that run VMs now, by this much more.
 */
static bool exceeds(const struct world *w, double percent, enum oracle_need need, double more)
{
    double capacity = 0;

    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        capacity +=
            oracle_runs_vms(&w->o, h) ? oracle_limit(&w->o, h, need) + oracle_own_use(&w->o, h, need) : 0;
    return percent > 0 && taken_by_all(w, need) > capacity * (1 - percent / 100) + more;
}

/* Of the source's policy, or of the configuration's. */
static bool has_excess(const struct world *w, double more)
{
    const struct ha_facts *source = &w->snap.ha;
    const struct ha_configured *own = &w->snap.ha_configured;

    return (source->policy == HA_PERCENT &&
            (exceeds(w, source->percent[RES_CPU], ORACLE_CPU_RESERVED, more) ||
             exceeds(w, source->percent[RES_MEM], ORACLE_MEM_RESERVED, more))) ||
           (own->policy == HA_PERCENT && (exceeds(w, own->percent[RES_CPU], ORACLE_CPU_RESERVED, more) ||
                                          exceeds(w, own->percent[RES_MEM], ORACLE_MEM, more)));
}

static uint32_t hosts_running(const struct world *w)
{
    uint32_t n = 0;

    for (uint32_t h = 0; h < w->snap.n_hosts; h++)
        n += oracle_runs_vms(&w->o, h);
    return n;
}

static bool is_missing_now(struct world *w, const struct fault *f)
{
    struct restart *both = &w->restart[RESTART_OF_BOTH];
    uint32_t vm = finding_get_subject(f->found, SUBJECT_VM);
    uint32_t host = finding_get_subject(f->found, SUBJECT_HOST);

    if (vm == IX_NONE)
        return f->found->code == FIND_FAILOVER_SHARE_MISSING ? has_excess(w, -ROUNDING)
                                                             : hosts_running(w) <= w->snap.promise.hosts;
    if (host == IX_NONE)
        return restart_is_possible(both, IX_NONE, IX_NONE, true) != YES;
    return restart_is_possible(both, host, restart_is_single(both) ? vm : IX_NONE, true) != YES;
}

static void count_on(struct world *w)
{
    for (int k = 0; k < RESTART_VIEWS; k++)
        restart_count_on(&w->restart[k]);
}

static void apply_plan(struct world *w)
{
    oracle_reset(&w->o);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        oracle_end(&w->o, &w->plan.recommendations[i]);
    count_on(w);
}

static void revert_plan(struct world *w)
{
    oracle_reset(&w->o);
    count_on(w);
}

/* As things stand; or in the end, when mandatory moves took the room. */
static bool is_missing(struct world *w, const struct fault *f)
{
    if (f->vm == IX_NONE && f->host != IX_NONE) /* a failover host that is not there */
        return w->snap.hosts[f->host].failover &&
               (w->snap.hosts[f->host].is.state != HOST_ON || host_is_avoided(&w->snap.hosts[f->host]));
    bool missing = is_missing_now(w, f);

    if (w->snap.promise.hosts > 1 && w->plan.n_recommendations > 0)
        return true; /* which are lost together was decided in between */
    apply_plan(w);
    missing = missing || is_missing_now(w, f);
    revert_plan(w);
    return missing;
}

/* A fault may then be one of counts or cells, which this search ignores; failover_cells.c covers them.
 */
static bool needs_more(const struct snapshot *s)
{
    bool needs = s->needs_cells;

    for (uint32_t i = 0; i < s->n_vms && !needs; i++) {
        const struct pipeline *p = s->vms[i].pipeline == IX_NONE ? NULL : &s->pipelines[s->vms[i].pipeline];
        for (uint32_t k = 0; p && k < p->n; k++)
            needs = needs || s->stages[p->first + k].is.limit.n > 0;
    }
    return needs;
}

/* Whether the VMs of some host consume nearly all of its memory: only there may the greedy search for
 * failover slots overlook an arrangement. With a policy of the configuration, which looks at VMs of a higher
 * restart priority before larger ones, also where they take nearly all of what slots keep. */
static bool is_crowded(const struct world *w)
{
    const struct snapshot *s = &w->snap;

    for (uint32_t h = 0; h < s->n_hosts; h++) {
        const struct host_facts *f = &s->hosts[h].is;
        double used = s->hosts[h].own.now[RES_MEM];
        for (uint32_t v = 0; v < s->n_vms; v++)
            if (s->vms[v].host == h && s->vms[v].is.state == VM_ON)
                used += s->vms[v].is.consumed_mb + s->vms[v].is.overhead_mb;
        if (used > 0.85 * (f->total[RES_MEM] - f->reserved[RES_MEM]) - ROUNDING)
            return true;
        bool uses = s->hosts[h].own.now[RES_CPU] > 0 || s->hosts[h].own.now[RES_MEM] > 0;
        if ((s->ha_configured.given || uses) &&
            (oracle_taken(&w->o, h, ORACLE_MEM) >
                 host_room(&s->hosts[h], RES_MEM) - 0.15 * s->hosts[h].capacity[RES_MEM] ||
             oracle_taken(&w->o, h, ORACLE_CPU_RESERVED) >
                 host_room(&s->hosts[h], RES_CPU) - 0.15 * s->hosts[h].capacity[RES_CPU]))
            return true;
    }
    return false;
}

static bool mends_spare(const struct recommendation *rec)
{
    return rec->reason == REASON_SPARE_CAPACITY;
}

static uint32_t stuck(const struct plan *plan)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_faults; i++)
        n += plan->faults[i].code == FAULT_CANNOT_EVACUATE;
    return n;
}

/* Whether some VM leaves a host only because that enters maintenance, and would not for standby: it takes
 * failover capacity, which later moves make again. */
static bool maintenance_takes_it(struct world *w)
{
    struct snapshot s = w->snap;
    struct plan plan;
    struct err err = {0};

    s.hosts = arena_array(&w->a, struct host, s.n_hosts);
    for (uint32_t i = 0; i < s.n_hosts; i++) {
        s.hosts[i] = w->snap.hosts[i];
        if (s.hosts[i].is.state == HOST_ENTERING_MAINTENANCE)
            s.hosts[i].is.state = HOST_ENTERING_STANDBY;
    }
    assert_int_equal(pass_run(&s, &w->policy, &w->a, &plan, &err), 0);
    return stuck(&plan) > stuck(&w->plan);
}

/* Whether VMs run on the failover host after the plan. */
static bool keeps_vms(const struct world *w, uint32_t host)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        n += w->snap.vms[v].host == host && w->snap.vms[v].is.state == VM_ON;
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        n -= w->plan.recommendations[i].action == ACTION_MIGRATE && w->plan.recommendations[i].from == host;
    return w->snap.hosts[host].failover && n > 0;
}

static void check(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w = {.seed = seed, .tally = tally};
    struct rng r = {.state = seed};
    struct err err = {0};
    bool mends = false;
    bool missing = false;
    bool careful = false;

    random_cluster(&r, options, &w.a, &w.snap);
    random_policy(&r, &w.policy);
    if (options->power)
        random_dpm(&r, &w.policy);
    assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
    oracle_init(&w.o, &w.snap, &w.plan.policy, &w.a);
    for (int k = 0; k < RESTART_VIEWS; k++)
        restart_init(&w.restart[k], &w.o, (enum restart_view)k, &tally->unjudged, &w.a);
    for (uint32_t i = 0; i < w.plan.n_recommendations; i++)
        mends = mends || mends_spare(&w.plan.recommendations[i]);
    for (uint32_t i = 0; i < w.plan.n_faults; i++) {
        if (w.plan.faults[i].code != FAULT_SPARE_MISSING)
            continue;
        if (w.plan.faults[i].found->code == FIND_FAILOVER_HOST_BUSY) {
            if (!keeps_vms(&w, w.plan.faults[i].host))
                fail_msg("seed %llu: an empty failover host is said to run VMs", (unsigned long long)seed);
            continue;
        }
        missing = true;
        if (plan_vms_unprotected(&w.plan.faults[i], 1) > w.snap.n_vms)
            fail_msg("seed %llu: more VMs lack failover capacity than there are", (unsigned long long)seed);
        careful = careful || (!needs_more(&w.snap) && !is_missing(&w, &w.plan.faults[i]));
    }
    if (careful && !is_crowded(&w))
        fail_msg("seed %llu: capacity is said to be missing, which is not so", (unsigned long long)seed);
    tally->too_careful += careful;
    for (int k = 0; k < RESTART_OF_BOTH && !missing; k++) /* by moves that were due anyway */
        mends = mends || restart_first_without(&w.restart[k], true) != IX_NONE;
    mends = mends || maintenance_takes_it(&w);
    /* of several hosts that are lost at once, which they are changes with the moves and standbys */
    if (!missing && !mends && !(w.snap.ha_configured.given && w.snap.promise.hosts > 1))
        walk_plan(&w, &r);
    if (!missing)
        apply_plan(&w);
    for (int k = 0; k < RESTART_OF_BOTH && !missing && w.snap.promise.hosts <= 1; k++) {
        uint32_t host = restart_first_without(&w.restart[k], false);
        if (host != IX_NONE)
            fail_msg("seed %llu: in the end not all VMs could be restarted as the %s asks if %s were lost",
                     (unsigned long long)seed, policy_of[k], restart_what_is_lost(&w.restart[k], host));
    }
    if (!missing && has_excess(&w, ROUNDING))
        fail_msg("seed %llu: in the end less than the kept share is free", (unsigned long long)seed);
    tally->kept += !missing && !mends;
    tally->mended += !missing && mends;
    tally->named += missing;
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally t = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, o, &t);
    (void)printf("%u clusters kept it through %u moves, %u mended, %u with faults, %u of them without need; "
                 "%u searches took too long\n",
                 t.kept, t.moves, t.mended, t.named, t.too_careful, t.unjudged);
    assert_true(t.too_careful <= 2 + t.named / 50);
    if (test_is_usual())
        assert_true(t.kept > clusters / 4 && t.moves > clusters / 4 && t.mended > 0 && t.named > 0);
}

static void test_balancing(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 25, .mixed_hosts = true, .ha = true}, 1500);
}

static void test_rules_and_evacuations(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 7,
                                  .vms_max = 25,
                                  .rules = true,
                                  .evacuate = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .ha = true},
        1500);
}

static void test_moves_under_way(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 7,
                                  .vms_max = 25,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .in_flight = true,
                                  .sleeping = true,
                                  .ha = true,
                                  .approved = true},
        1500);
}

static void test_power(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 25,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .sleeping = true,
                                  .ha = true,
                                  .power = true},
        1500);
}

static void test_both_policies(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 7,
                                  .vms_max = 25,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .evacuate = true,
                                  .sleeping = true,
                                  .ha = true,
                                  .own_ha = true,
                                  .power = true},
        1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_policies),
        cmocka_unit_test(test_balancing),
        cmocka_unit_test(test_rules_and_evacuations),
        cmocka_unit_test(test_moves_under_way),
        cmocka_unit_test(test_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
