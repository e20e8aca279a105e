/* Mandatory corrections (§3.3): a violation that no fault names has been corrected, each correction
 * removes a violation, and no single move could correct a violation that a fault names. */
#include "core/pass.h"
#include "oracle.h"
#include "random_cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
    uint64_t seed;
    struct arena a;
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
    struct oracle o;
    bool *moved; /* by VM: the plan moves it */
};

static bool is_beside_its_peer(const struct world *w, uint32_t vm);

/* Where the VM will be when what is under way has ended. */
static uint32_t place_of(const struct world *w, uint32_t vm)
{
    return w->o.also[vm] != IX_NONE && !w->o.arrived[vm] ? w->o.also[vm] : w->o.at[vm];
}

static bool is_leaving(const struct world *w, uint32_t host)
{
    enum host_state state = w->snap.hosts[host].is.state;

    return state == HOST_ENTERING_MAINTENANCE || state == HOST_ENTERING_STANDBY;
}

static bool is_affine(const struct world *w, uint32_t vm)
{
    for (uint32_t i = 0; i < w->snap.n_rules; i++)
        for (uint32_t k = 0; w->snap.rules[i].is.kind == RULE_VM_AFFINE && k < w->snap.rules[i].vms.n; k++)
            if (w->snap.rules[i].vms.items[k] == vm)
                return true;
    return false;
}

static bool affine_in_flight(const struct world *w)
{
    for (uint32_t v = 0; v < w->snap.n_vms; v++)
        if (w->o.in_flight[v] && is_affine(w, v))
            return true;
    return false;
}

/* A VM that is on its way, or may have to wait for one: sets are joined by VMs that are in two of them. */
static bool waits(const struct world *w, uint32_t vm)
{
    return w->o.in_flight[vm] || (is_affine(w, vm) && affine_in_flight(w));
}

static bool some_wait(const struct world *w, const struct rule *rule)
{
    for (uint32_t i = 0; i < rule->vms.n; i++)
        if (waits(w, rule->vms.items[i]))
            return true;
    return false;
}

/* Whether the rule is violated as far as this VM is concerned. */
static bool is_violated_for(const struct world *w, const struct rule *rule, uint32_t vm)
{
    uint32_t here = place_of(w, vm);
    bool member = false;

    for (uint32_t i = 0; i < rule->vms.n; i++)
        member = member || rule->vms.items[i] == vm;
    if (here == IX_NONE || !member)
        return false;
    for (uint32_t i = 0; i < rule->vms.n; i++) {
        uint32_t other = rule->vms.items[i];
        uint32_t there = place_of(w, other);
        if (other == vm || there == IX_NONE)
            continue;
        if (rule->is.kind == RULE_VM_AFFINE && there != here)
            return true;
        if (rule->is.kind == RULE_VM_ANTI_AFFINE && there == here)
            return true;
    }
    bool listed = false;
    for (uint32_t i = 0; i < rule->hosts.n; i++)
        listed = listed || rule->hosts.items[i] == here;
    return (rule->is.kind == RULE_HOST_AFFINE && !listed) ||
           (rule->is.kind == RULE_HOST_ANTI_AFFINE && listed);
}

static bool is_beside_its_peer(const struct world *w, uint32_t vm)
{
    uint32_t peer = w->snap.vms[vm].ft_peer;

    return peer != IX_NONE && place_of(w, vm) != IX_NONE && place_of(w, peer) == place_of(w, vm);
}

/* ---- what is mended was broken ---- */

static void check_needed(struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_recommendations; i++) {
        const struct recommendation *rec = &w->plan.recommendations[i];
        bool needed = true;
        bool counts = true;
        if (oracle_is_power(rec)) {
            oracle_end(&w->o, rec);
            continue;
        }
        counts = oracle_counts_allow(&w->o, rec->vm, rec->from, FIT_CORRECT);
        if (rec->reason == REASON_RULE && rec->rule != IX_NONE && rec->group == 0)
            needed = is_violated_for(w, &w->snap.rules[rec->rule], rec->vm);
        else if (rec->reason == REASON_RULE && rec->rule == IX_NONE && rec->group == 0)
            needed = !oracle_may_run(&w->o, rec->vm, rec->from, false) || is_beside_its_peer(w, rec->vm) ||
                     !counts;
        else if (rec->reason == REASON_MAINTENANCE || rec->reason == REASON_STANDBY)
            needed = is_leaving(w, rec->from);
        if (!needed)
            fail_msg("seed %llu: recommendation %u (%s) mends what is not broken",
                     (unsigned long long)w->seed, rec->id, reason_name(rec->reason));
        bool of_hosts = rec->rule == IX_NONE || w->snap.rules[rec->rule].is.kind >= RULE_HOST_AFFINE;
        bool may_stay =
            oracle_may_run(&w->o, rec->vm, rec->from, false) && !is_beside_its_peer(w, rec->vm) && counts;
        if (rec->reason == REASON_RULE && rec->group == 0 && of_hosts && rec->priority != (may_stay ? 2 : 1))
            fail_msg("seed %llu: recommendation %u (%s) has priority %u", (unsigned long long)w->seed,
                     rec->id, reason_name(rec->reason), rec->priority);
        if (rec->priority > w->policy.migration_threshold)
            fail_msg("seed %llu: recommendation %u has priority %u at level %lld",
                     (unsigned long long)w->seed, rec->id, rec->priority,
                     (long long)w->policy.migration_threshold);
        instant_s last = w->snap.vms[rec->vm].is.last_migrated;
        if (rec->priority > 1 && last > 0 && w->snap.time - last < w->policy.cool_down_s)
            fail_msg("seed %llu: recommendation %u (%s) has priority %u, and the VM is to rest",
                     (unsigned long long)w->seed, rec->id, reason_name(rec->reason), rec->priority);
        oracle_end(&w->o, rec);
        w->moved[rec->vm] = true;
    }
}

/* ---- what is not named has been mended ---- */

static void check_mended(const struct world *w)
{
    for (uint32_t v = 0; v < w->snap.n_vms; v++) {
        uint32_t here = place_of(w, v);
        if (here == IX_NONE || waits(w, v) || w->snap.vms[v].is.kind == VM_AGENT)
            continue;
        if (is_leaving(w, here))
            fail_msg("seed %llu: %s stays on a host that is to be emptied, and nothing is said",
                     (unsigned long long)w->seed, w->snap.vms[v].is.id);
        if (!oracle_may_run(&w->o, v, here, false))
            fail_msg("seed %llu: %s stays where it may not run, and nothing is said",
                     (unsigned long long)w->seed, w->snap.vms[v].is.id);
        if (is_beside_its_peer(w, v) && !waits(w, w->snap.vms[v].ft_peer) && oracle_runs_vms(&w->o, here))
            fail_msg("seed %llu: %s is beside the other half of its pair, and nothing is said",
                     (unsigned long long)w->seed, w->snap.vms[v].is.id);
    }
    for (uint32_t i = 0; i < w->snap.n_rules; i++) {
        const struct rule *rule = &w->snap.rules[i];
        if (!rule->is.enabled || !rule->is.mandatory || some_wait(w, rule))
            continue;
        for (uint32_t k = 0; k < rule->vms.n; k++)
            if (is_violated_for(w, rule, rule->vms.items[k]) &&
                w->snap.vms[rule->vms.items[k]].is.kind != VM_AGENT)
                fail_msg("seed %llu: rule %s is violated by %s, and nothing is said",
                         (unsigned long long)w->seed, rule->is.id, w->snap.vms[rule->vms.items[k]].is.id);
    }
}

/* ---- what is named could not be mended ---- */

static bool is_movable(const struct world *w, uint32_t vm)
{
    const struct vm_facts *v = &w->snap.vms[vm].is;

    return !w->moved[vm] && !w->o.in_flight[vm] && v->kind != VM_AGENT && w->o.at[vm] != IX_NONE &&
           v->automation != AUTOMATION_DISABLED && !v->immovable && !is_affine(w, vm);
}

/* A filter that moves change may have been false when the VM was corrected. */
static bool has_live_filter(const struct world *w, uint32_t vm, uint32_t host)
{
    unsigned asked = 0;

    (void)oracle_live_allows_at(&w->o, vm, host, FIT_MOVE, NULL, &asked);
    return asked > 0;
}

static bool takes(const struct world *w, uint32_t host, uint32_t vm)
{
    return !has_live_filter(w, vm, host) && host_can_run_vms(&w->snap.hosts[host]) &&
           oracle_receives(&w->o, host) && host != w->o.at[vm] && oracle_may_run(&w->o, vm, host, true) &&
           !oracle_meets(&w->o, vm, host, true) && oracle_fits(&w->o, vm, host);
}

/* Whether the host would take the VM if another moved away from there. */
static bool would_take(struct world *w, uint32_t host, uint32_t vm)
{
    if (!oracle_may_run(&w->o, vm, host, true) || host == w->o.at[vm])
        return false;
    for (uint32_t other = 0; other < w->snap.n_vms; other++) {
        if (other == vm || w->o.at[other] != host || !is_movable(w, other))
            continue;
        for (uint32_t to = 0; to < w->snap.n_hosts; to++) {
            if (!takes(w, to, other))
                continue;
            w->o.at[other] = to;
            bool enough = takes(w, host, vm);
            w->o.at[other] = host;
            if (enough)
                return true;
        }
    }
    return false;
}

/* A host that would take the VM as things are, by every rule there is; or, where it must leave, after one
 * move of another VM. IX_NONE: none. */
static uint32_t way_out(struct world *w, uint32_t vm, bool must)
{
    for (uint32_t h = 0; h < w->snap.n_hosts && is_movable(w, vm); h++)
        if (takes(w, h, vm) || (must && would_take(w, h, vm)))
            return h;
    return IX_NONE;
}

/* The VMs of which any one that leaves would mend it, or some of it. */
static bool would_help(const struct world *w, const struct fault *f, uint32_t vm)
{
    if (w->o.at[vm] != f->host)
        return false;
    if (f->code == FAULT_OVERCOMMITTED)
        return w->snap.vms[vm].is.alloc[RES_CPU].reservation > 0 &&
               w->snap.vms[vm].is.alloc[RES_MEM].reservation > 0;
    if (f->rule != IX_NONE && w->snap.rules[f->rule].is.kind == RULE_VM_ANTI_AFFINE)
        return is_violated_for(w, &w->snap.rules[f->rule], vm);
    if (f->code == FAULT_RULE_VIOLATED && f->rule == IX_NONE && is_beside_its_peer(w, f->vm) &&
        oracle_may_run(&w->o, f->vm, f->host, false))
        return vm == f->vm || vm == w->snap.vms[f->vm].ft_peer;
    return vm == f->vm;
}

/* In the state that the plan leaves behind. */
static void check_faults(struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_faults; i++) {
        const struct fault *f = &w->plan.faults[i];
        bool of_affinity = f->rule != IX_NONE && w->snap.rules[f->rule].is.kind == RULE_VM_AFFINE;
        if (f->host == IX_NONE || f->code == FAULT_RULE_CONFLICT || f->code == FAULT_HOST_DISCONNECTED ||
            f->code == FAULT_DEMAND_UNKNOWN || f->code == FAULT_SAMPLE_BAD ||
            f->code == FAULT_SPARE_MISSING || of_affinity)
            continue;
        bool must =
            f->code == FAULT_CANNOT_EVACUATE ||
            (f->code == FAULT_RULE_VIOLATED && f->rule != IX_NONE && w->snap.rules[f->rule].is.mandatory &&
             w->snap.rules[f->rule].is.kind >= RULE_HOST_AFFINE);
        for (uint32_t v = 0; v < w->snap.n_vms; v++)
            if (would_help(w, f, v) && way_out(w, v, must) != IX_NONE)
                fail_msg("seed %llu: \"%s\", but %s could go to %s", (unsigned long long)w->seed,
                         fault_code_name(f->code), w->snap.vms[v].is.id,
                         w->snap.hosts[way_out(w, v, must)].is.id);
    }
}

static bool has_conflict(const struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        if (w->plan.faults[i].code == FAULT_RULE_CONFLICT)
            return true;
    return false;
}

static bool has_faults(const struct world *w)
{
    for (uint32_t i = 0; i < w->plan.n_faults; i++)
        if (w->plan.faults[i].code == FAULT_RULE_VIOLATED ||
            w->plan.faults[i].code == FAULT_CANNOT_EVACUATE || w->plan.faults[i].code == FAULT_RULE_CONFLICT)
            return true;
    return false;
}

struct tally {
    unsigned moves, mended, named;
};

static void check(uint64_t seed, const struct cluster_options *options, struct tally *tally)
{
    struct world w = {.seed = seed};
    struct rng r = {.state = seed};
    struct err err = {0};

    random_cluster(&r, options, &w.a, &w.snap);
    random_policy(&r, &w.policy);
    w.policy.optional_moves = false;
    assert_int_equal(pass_run(&w.snap, &w.policy, &w.a, &w.plan, &err), 0);
    oracle_init(&w.o, &w.snap, &w.plan.policy, &w.a);
    w.moved = arena_array(&w.a, bool, w.snap.n_vms);
    check_needed(&w);
    tally->moves += w.plan.n_recommendations;
    if (!has_faults(&w)) {
        check_mended(&w);
        tally->mended++;
    }
    if (!has_conflict(&w)) {
        check_faults(&w);
        tally->named += w.plan.n_faults > 0;
    }
    arena_release(&w.a);
}

static void run(const struct cluster_options *o, unsigned clusters)
{
    struct tally tally = {0};

    for (unsigned i = 0; i < test_clusters(clusters); i++)
        check(test_seed() + i, o, &tally);
    (void)printf("%u moves, %u clusters mended, %u with faults\n", tally.moves, tally.mended, tally.named);
    if (test_is_usual())
        assert_true(tally.moves > clusters / 4 && tally.mended > 0 && tally.named > 0);
}

static void test_rules(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6, .vms_max = 30, .rules = true}, 6000);
}

static void test_tight(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 5,
                                  .vms_max = 40,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .mixed_hosts = true},
        6000);
}

static void test_moves_under_way(void **state)
{
    (void)state;
    run(
        &(struct cluster_options){
            .hosts_max = 6, .vms_max = 30, .rules = true, .evacuate = true, .in_flight = true},
        6000);
}

static void test_sleeping_hosts_and_pairs(void **state)
{
    (void)state;
    run(&(struct cluster_options){.hosts_max = 6,
                                  .vms_max = 30,
                                  .rules = true,
                                  .tight = true,
                                  .evacuate = true,
                                  .agents = true,
                                  .in_flight = true,
                                  .deep_pools = true,
                                  .sleeping = true,
                                  .idle_agents = true,
                                  .ft = true,
                                  .approved = true},
        3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_moves_under_way),
        cmocka_unit_test(test_sleeping_hosts_and_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
