/* The explanation of a VM agrees with the plan: the chosen host is the plan's, a VM that stays has none,
 * and each named check fails for the reason given. The plan counts rejected moves by the same checks. */
#include "core/explain.h"
#include "core/balance/move_score.h"
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ROUNDING 1e-5

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    unsigned chosen, confirmed;
    unsigned seen[check_count];
};

/* ---- the naive checks ---- */

/* The VMs that move together with this one: on the same host, joined by affinity, be it through one that is
 * elsewhere. */
static void mark_unit(const struct world *w, uint32_t vm, bool *unit)
{
    bool grows = true;

    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        unit[v] = v == vm;
    while (grows) {
        grows = false;
        for (uint32_t i = 0; i < w->snap.n_rules; i++) {
            const struct rule *rule = &w->snap.rules[i];
            bool touches = false;
            if (rule->is.kind != RULE_VM_AFFINE || !rule->is.enabled)
                continue;
            for (uint32_t k = 0; k < rule->vms.n; k++)
                touches = touches || unit[rule->vms.items[k]];
            for (uint32_t k = 0; touches && k < rule->vms.n; k++) {
                uint32_t v = rule->vms.items[k];
                if (!unit[v] && w->o.at[v] != IX_NONE) {
                    unit[v] = true;
                    grows = true;
                }
            }
        }
    }
    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        unit[v] = v == vm || (unit[v] && w->o.at[v] == w->o.at[vm]);
}

static bool lacks(const struct world *w, const bool *unit, uint32_t host, enum oracle_need need)
{
    double mine = 0;

    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        mine += unit[v] ? oracle_needs(&w->o, v, need) : 0;
    return oracle_taken(&w->o, host, need) + mine > oracle_limit(&w->o, host, need) - ROUNDING;
}

static bool agents_missing(const struct world *w, uint32_t host)
{
    struct span agents = w->snap.hosts[host].agents_required;

    for (uint32_t i = 0; i < agents.n; i++)
        if (w->snap.vms[agents.items[i]].host != host || w->snap.vms[agents.items[i]].is.state != VM_ON)
            return true;
    return false;
}

static bool is_put_to_standby(const struct world *w, uint32_t host)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (w->plan.recommendations[i].action == ACTION_POWER_OFF && w->plan.recommendations[i].host == host)
            return true;
    return false;
}

/* Whether a check about a host is right to fail; the state is the plan's before the VM's own move. */
static bool is_confirmed(const struct world *w, enum check check, const bool *unit, uint32_t host)
{
    bool forbidden = false;
    unsigned asked = 0;
    bool apart = false;

    for (uint32_t v = 0; v < w->snap.n_vms; v++) {
        if (!unit[v])
            continue;
        forbidden = forbidden || !oracle_may_run(&w->o, v, host, true) ||
                    !oracle_live_allows_at(&w->o, v, host, oracle_fit_use(&w->o, v, false), unit, &asked);
        for (uint32_t other = 0; other < w->snap.n_vms; other++)
            apart = apart || (other != v && oracle_is_on(&w->o, other, host) &&
                              oracle_kept_apart(&w->o, v, other, true));
    }
    switch ((int)check) { /* only those about a host's room and the rules */
    case CHECK_HOST_NOT_ON:
        return !oracle_receives(&w->o, host) || w->o.woken[host];
    case CHECK_INCOMPATIBLE:
    case CHECK_FIT_FILTER:
    case CHECK_RULE_VM_HOST:
        return forbidden;
    case CHECK_HOST_SLEEPS:
        return is_put_to_standby(w, host);
    case CHECK_AGENT_MISSING:
        return agents_missing(w, host);
    case CHECK_RULE_ANTI_AFFINITY:
        return apart;
    case CHECK_RESERVATION_CPU:
        return lacks(w, unit, host, ORACLE_CPU_RESERVED);
    case CHECK_RESERVATION_MEM:
        return lacks(w, unit, host, ORACLE_MEM_RESERVED);
    case CHECK_MEMORY:
        return lacks(w, unit, host, ORACLE_MEM);
    case CHECK_MEMORY_FREE:
        return lacks(w, unit, host, ORACLE_PHYSICAL);
    default:
        return true;
    }
}

/* One fault for all VMs of a rule that names no host. */
static bool is_of_rule_without_hosts(const struct world *w, const struct fault *f, uint32_t vm)
{
    const struct rule *r = f->vm == IX_NONE && f->rule != IX_NONE ? &w->snap.rules[f->rule] : NULL;

    for (uint32_t k = 0; r && r->hosts.n == 0 && k < r->vms.n; k++)
        if (r->vms.items[k] == vm)
            return true;
    return false;
}

/* Whether a fault says that the VM's rules contradict each other. */
static bool has_conflict(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        if (w->plan.faults[i].code == FAULT_RULE_CONFLICT &&
            (w->plan.faults[i].vm == vm || is_of_rule_without_hosts(w, &w->plan.faults[i], vm)))
            return true;
    return false;
}

static bool is_affine(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->snap.n_rules; i++)
        for (uint32_t k = 0; w->snap.rules[i].is.kind == RULE_VM_AFFINE && k < w->snap.rules[i].vms.n; k++)
            if (w->snap.rules[i].vms.items[k] == vm)
                return true;
    return false;
}

/* Checks about the VM itself. */
static bool is_so(const struct world *w, enum check check, uint32_t vm)
{
    const struct vm *v = &w->snap.vms[vm];

    switch ((int)check) {
    case CHECK_VM_NOT_RUNNING:
        return v->is.state != VM_ON;
    case CHECK_VM_HOST_UNSEEN:
        return v->is.state == VM_ON && w->o.home[vm] == IX_NONE;
    case CHECK_VM_MIGRATING:
        return w->o.in_flight[vm];
    case CHECK_VM_KIND:
        return v->is.kind != VM_NORMAL;
    case CHECK_VM_DISABLED:
        return v->is.automation == AUTOMATION_DISABLED;
    case CHECK_VM_IMMOVABLE:
        return v->is.immovable != NULL;
    case CHECK_VM_MANDATORY_ONLY:
        return v->is.mandatory_only != NULL;
    case CHECK_VM_DEMAND_UNKNOWN:
        return v->is.demand_unknown;
    case CHECK_VM_SAMPLE_BAD:
        return v->is.sample_age_s > 0 || v->is.demand[RES_MEM] > v->is.mem_mb + v->is.overhead_mb;
    case CHECK_VM_COOL_DOWN:
        return v->is.last_migrated > 0;
    case CHECK_UNIT_HELD:
        return is_affine(w, vm) || has_conflict(w, vm);
    case CHECK_VM_MOVED:
        return false; /* then it would have been chosen */
    default:
        return true;
    }
}

static const struct recommendation *recommendation_of(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++)
        if (w->plan.recommendations[i].vm == vm)
            return &w->plan.recommendations[i];
    return NULL;
}

/* Whether the VM's host is to be emptied. */
static bool must_leave(const struct world *w, uint32_t vm)
{
    uint32_t host = w->snap.vms[vm].host;
    const struct host *h = host == IX_NONE ? NULL : &w->snap.hosts[host];

    return h && (h->is.state == HOST_ENTERING_MAINTENANCE || h->is.state == HOST_ENTERING_STANDBY ||
                 h->failover || host_is_avoided(h));
}

static bool is_for_balance(enum reason reason)
{
    return reason == REASON_BALANCE_CPU || reason == REASON_BALANCE_MEM || reason == REASON_EXCHANGE ||
           reason == REASON_ROOM;
}

/* Everything that the plan does before the VM's own move, or that of the set that it moves with. What makes
 * room for the move shares its group, and comes before. */
static void replay_until(struct world *w, uint32_t vm, const struct recommendation *own, bool *unit)
{
    oracle_reset(&w->o);
    if (own)
        mark_unit(w, own->vm, unit);
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        if (rec->vm == IX_NONE)
            continue; /* a host is woken, or put to standby */
        if (!own && w->plan.end != CHECK_POWER_FIRST &&
            (rec->reason == REASON_CONSOLIDATE || rec->reason == REASON_HIGH_UTILIZATION ||
             oracle_makes_room_to_sleep(rec)))
            continue; /* who stays is judged before that */
        if (!own && is_for_balance(rec->reason) && must_leave(w, vm))
            continue; /* likewise, who must leave its host */
        if (own && unit[rec->vm] && rec->from == own->from && rec->to == own->to)
            return;
        oracle_end(&w->o, rec);
    }
}

static double figure_of(const struct finding *f, enum finding_figure name)
{
    for (uint32_t i = 0; f->figures[i].name != FIGURE_END; i++)
        if (f->figures[i].name == name)
            return f->figures[i].value;
    return UNKNOWN;
}

/* The imbalance that the explanation gives for the host is not below that of the chosen one, or more memory
 * would have to be reclaimed there. */
static bool is_no_better(const struct candidate *c)
{
    double after = figure_of(c->found, FIGURE_IMBALANCE_AFTER);
    double chosen = figure_of(c->found, FIGURE_IMBALANCE_CHOSEN);

    return isnan(after) || isnan(chosen) || after >= chosen - GAIN_LEAST ||
           figure_of(c->found, FIGURE_RECLAIMED) > 0;
}

/* Whether the move goes where the imbalance is lowest. */
static bool is_by_imbalance(const struct recommendation *own)
{
    return own->group == 0 && (own->reason == REASON_BALANCE_CPU || own->reason == REASON_BALANCE_MEM ||
                               own->reason == REASON_RULE || own->reason == REASON_QUARANTINE);
}

static void check_candidate(struct world *w, uint32_t vm, const struct recommendation *own, const bool *unit,
                            const struct candidate *c)
{
    const char *host = w->snap.hosts[c->host].is.id;
    const char *id = w->snap.vms[vm].is.id;
    bool chosen = own && own->to == c->host;

    if ((c->verdict == VERDICT_CHOSEN) != chosen)
        fail_msg("seed %llu: explain says %s for %s on %s, the plan does not", (unsigned long long)w->seed,
                 verdict_name(c->verdict), id, host);
    if ((c->verdict == VERDICT_CURRENT) != (w->snap.vms[vm].host == c->host))
        fail_msg("seed %llu: %s is said to be on %s", (unsigned long long)w->seed, id, host);
    w->chosen += chosen;
    if (c->verdict != VERDICT_REJECTED)
        return;
    /* a VM that stays could not be bettered by a move that passes: the climb would have made it */
    bool better = (c->check == CHECK_PLAN_WORSE && !own) ||
                  (c->check == CHECK_LESS_GAIN && (!own || (is_by_imbalance(own) && !is_no_better(c))));
    if (better || c->check == CHECK_NONE || !c->found || !is_so(w, c->check, vm) ||
        !is_confirmed(w, c->check, unit, c->host))
        fail_msg("seed %llu: %s is kept off %s by %s%s, which is not so", (unsigned long long)w->seed, id,
                 host, check_name(c->check), c->found ? "" : ", without a finding");
    w->confirmed++;
    w->seen[c->check]++;
}

static void explain_all(struct world *w)
{
    bool *unit = arena_array(&w->a, bool, w->snap.n_vms);
    struct err err = {0};

    for (uint32_t vm = 0; vm < w->snap.n_vms; vm++) {
        struct explanation e;
        const struct recommendation *own = recommendation_of(w, vm);
        assert_int_equal(explain_vm(&w->snap, &w->policy, vm, IX_NONE, &w->a, &e, &err), 0);
        assert_int_equal(e.n, w->snap.n_hosts);
        replay_until(w, vm, own, unit);
        mark_unit(w, vm, unit);
        for (uint32_t i = 0; i < e.n; i++)
            check_candidate(w, vm, own, unit, &e.candidates[i]);
    }
}

static void run(const struct cluster_options *options, unsigned clusters)
{
    unsigned chosen = 0;
    unsigned confirmed = 0;
    unsigned seen[check_count] = {0};

    clusters = test_some(clusters);
    for (unsigned i = 0; i < test_clusters(clusters); i++) {
        struct world w = {.seed = test_seed() + i};
        struct rng r = {.state = w.seed};
        struct err err = {0};
        random_cluster(&r, options, &w.a, &w.snap);
        random_policy(&r, &w.policy);
        if (options->power)
            random_dpm(&r, &w.policy);
        if (options->deep)
            deep_policy(&w.policy);
        assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
        oracle_init(&w.o, &w.snap, &w.plan.policy, &w.a);
        explain_all(&w);
        chosen += w.chosen;
        confirmed += w.confirmed;
        for (int c = 0; c < check_count; c++)
            seen[c] += w.seen[c];
        arena_release(&w.a);
    }
    (void)printf("%u chosen, %u rejected:", chosen, confirmed);
    for (int c = 0; c < check_count; c++)
        if (seen[c] > 0)
            (void)printf(" %s %u", check_name((enum check)c), seen[c]);
    (void)printf("\n");
    if (test_is_usual())
        assert_true(chosen > clusters / 4 && confirmed > clusters);
}

/* Where no move was tried, the plan counts the rejected moves by the checks that the explanations name: with
 * two hosts each VM has one. The plan leaves out VMs whose move could pay but gains nothing, and does not ask
 * whether a VM that cannot pay has room. */
static void check_counts(struct world *w, unsigned *counted)
{
    uint64_t named[check_count] = {0};
    struct err err = {0};

    if (w->plan.before.n_hosts != 2 || w->plan.stats.evaluated > 0 || w->plan.end != CHECK_NONE)
        return;
    for (uint32_t vm = 0; vm < w->snap.n_vms; vm++) {
        struct explanation e;
        assert_int_equal(explain_vm(&w->snap, &w->policy, vm, IX_NONE, &w->a, &e, &err), 0);
        for (uint32_t i = 0; i < e.n; i++)
            named[e.candidates[i].check]++;
    }
    uint64_t no_room = 0;
    for (int c = CHECK_RESERVATION_CPU; c <= CHECK_MEMORY_FREE; c++)
        no_room += named[c];
    for (int c = CHECK_NO_GAIN; c <= CHECK_COST_BENEFIT; c++) {
        if (w->plan.stats.rejected[c] > named[c] + no_room)
            fail_msg("seed %llu: %llu moves are counted as %s, the explanations name %llu",
                     (unsigned long long)w->seed, (unsigned long long)w->plan.stats.rejected[c],
                     check_name((enum check)c), (unsigned long long)(named[c] + no_room));
        *counted += w->plan.stats.rejected[c] > 0;
    }
}

static void test_counts(void **state)
{
    const struct cluster_options options = {.hosts_max = 2, .vms_max = 12, .mixed_hosts = true};
    const unsigned clusters = test_some(1600); /* one in 12 has a count */
    unsigned counted = 0;

    (void)state;
    for (unsigned i = 0; i < test_clusters(clusters); i++) {
        struct world w = {.seed = test_seed() + i};
        struct rng r = {.state = w.seed};
        struct err err = {0};
        random_cluster(&r, &options, &w.a, &w.snap);
        random_policy(&r, &w.policy);
        assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
        check_counts(&w, &counted);
        arena_release(&w.a);
    }
    (void)printf("%u counts\n", counted);
    if (test_is_usual())
        assert_true(counted > clusters / 20);
}

static void test_plain(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 25, .mixed_hosts = true}, 400);
}

/* VMs change places. */
static void test_full(void **state)
{
    const struct cluster_options base = {.hosts_max = 6, .vms_max = 25, .rules = true, .full = true};
    struct cluster_options mixed = base;
    struct cluster_options tight = base;
    struct cluster_options cells = base;
    struct cluster_options failures = base;
    struct cluster_options power = base;

    (void)state;
    mixed.mixed_hosts = mixed.scores = true;
    tight.tight = tight.evacuate = tight.agents = tight.in_flight = true;
    cells.tight = cells.cells = true;
    failures.ha = failures.ft = failures.deep_pools = true;
    power.mixed_hosts = power.sleeping = power.power = true;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 25, .rules = true, .tight = true, .full = true},
        800);
    run(&mixed, 400);
    run(&tight, 400);
    run(&cells, 400);
    run(&failures, 400);
    run(&power, 800);
}

static void test_everything(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 25,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .in_flight = true},
        800);
}

static void test_failures(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 25,
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
        400);
}

static void test_power(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 8,
                                  .vms_max = 25,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .sleeping = true,
                                  .power = true},
        400);
}

static void test_deep_search(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 25,
                                  .mixed_hosts = true,
                                  .rules = true,
                                  .full = true,
                                  .ha = true,
                                  .deep = true},
        100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),       cmocka_unit_test(test_full),  cmocka_unit_test(test_everything),
        cmocka_unit_test(test_failures),    cmocka_unit_test(test_power), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_deep_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
