/* The eight steps of a pass. Steps 1 to 7 run once per trial of preferred rules (preferred_rules.h), step 8
 * for the chosen trial. Placement (place/) replaces steps 5 to 7 by its own. */
#include "core/pass.h"

#include "base/thread_pool.h"
#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/enforced.h"
#include "core/divvy/host_settings.h"
#include "core/divvy/vm_controls.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "core/power/power.h"
#include "core/power/ready_by.h"
#include "core/preferred_rules.h"

#include <errno.h>

/* Trials of hosts in the search for prerequisite moves: a fraction of a second. Clusters with fewer than a
 * few hundred hosts never reach the limit. */
#define PREREQUISITE_TRIALS 4000000

/* VMs times hosts that are looked at to judge moves for failover capacity: a fraction of a second. For the
 * gaps that are left then, a host is woken; if there is none, they stay faults. */
#define FAILOVER_TRIALS 100000000

/* Tries that hold back one more unit each. */
#define TRIES_MAX 8

/* Where a pass ends: at its end, or before the step that changes hosts after the decision that a VM stays. */
enum pass_until { PASS_UNTIL_END, PASS_UNTIL_CORRECTED, PASS_UNTIL_BALANCE, PASS_UNTIL_POWER };

static void estimate_demand(struct pass *p, const struct snapshot *snap);
static void divide(struct pass *p);
static void build_layout(struct pass *p);

void pass_prepare(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                  uint32_t watched_vm, struct arena *a)
{
    *p = (struct pass){.policy = *policy,
                       .a = a,
                       .watched_vm = watched_vm,
                       .for_vm = IX_NONE,
                       .hold_back = IX_NONE,
                       .prerequisite_trials = PREREQUISITE_TRIALS,
                       .failover_trials = FAILOVER_TRIALS};
    estimate_demand(p, snap);                    /* 1. demand: samples -> each VM's demand */
    divide(p);                                   /* 2. divvy: pool tree -> each VM's entitlement */
    rules_compile(p->snap, rules, a, &p->rules); /* 3. rules: allowed hosts, contradictions */
    build_layout(p);                             /* 4. layout: the what-if copy of the cluster */
}

/* The task of a pass, beside the policy. */
struct question {
    const struct snapshot *snap;
    const struct policy *policy;
    unsigned rules;
    uint32_t watched_vm;
    bool *held_back;                    /* by unit; NULL: none */
    bool gives_up_failover;             /* p->gives_up_failover */
    const struct proposal *search_from; /* p->search_from */
    const struct proposal *proposal;    /* p->proposal */
    bool anew;                          /* p->anew */
    enum pass_until until;
    struct arena *a;
};

static void decide(struct pass *p, const struct question *q)
{
    pass_prepare(p, q->snap, q->policy, q->rules, q->watched_vm, q->a);
    p->held_back = q->held_back;
    p->gives_up_failover = q->gives_up_failover;
    p->search_from = q->search_from;
    p->proposal = q->proposal;
    p->anew = q->anew;
    p->off_vms_leave = q->snap->moves_off_vms;
    plan_report_state(p); /* faults that exist before any decision */
    plan_correct(p);      /* 5. corrections: mandatory moves first, */
    if (q->until == PASS_UNTIL_CORRECTED)
        return;
    if (q->rules & RULES_PREFERRED) /* which must not cost failover capacity */
        p->failover_lost = plan_failover_lost(p);
    quarantine_empty_hosts(p); /* then those off degraded hosts */
    if (!p->stopped)           /* a mandatory move that is explained is judged as one */
        p->layout.moves_are_optional = true;
    if (p->stopped || q->until == PASS_UNTIL_BALANCE)
        return;
    ready_by_wake(p);            /* 7. power, first part: wakes for dpm.ready_by, */
    bool saves = power_first(p); /* and power-offs of unneeded hosts, before the balancing */
    if (!saves)
        plan_balance(p); /* 6. balance: optional moves while the benefit exceeds the cost, */
    if (p->search_from)
        return;
    if (!saves)
        plan_make_room(p); /* and moves that make room for large VMs */
    if (p->hold_back != IX_NONE || q->until == PASS_UNTIL_POWER)
        return;
    plan_review(p); /* the remaining gaps in failover capacity */
    quarantine_report(p);
    if (!saves)
        power_evaluate(p);   /* 7. power: wakes and power-offs, each tried on the layout */
    plan_report_overload(p); /* hosts that stay overloaded because no other has memory */
}

/* The units that the next try holds back: one more; after many tries, all but those of the first half of the
 * moves before that one. */
static void hold_back_more(const struct pass *p, uint32_t tries, bool *held_back)
{
    const struct layout *l = &p->layout;
    size_t n = 0;

    held_back[p->hold_back] = true;
    if (tries < TRIES_MAX)
        return;
    while (p->decisions[n].unit != p->hold_back)
        n++;
    bool *moves = arena_array(p->a, bool, l->n_units);
    for (size_t i = 0; i < n / 2; i++)
        if (p->decisions[i].unit != IX_NONE)
            moves[p->decisions[i].unit] = true;
    for (uint32_t u = 0; u < l->n_units; u++)
        held_back[u] = held_back[u] || !moves[u];
}

/* When it is decided that the watched VM stays. Its host is to be emptied: before the moves for balance,
 * which may give other hosts room afterwards. Else before power-offs and wakes, which change the loads. Hosts
 * that the plan puts to standby receive nothing all the same. */
static enum pass_until judged_at(const struct pass *p)
{
    uint32_t unit = p->layout.vm_unit[p->watched_vm];
    uint32_t slot = unit == IX_NONE ? IX_NONE : p->layout.unit_slot[unit];

    if (p->stopped)
        return PASS_UNTIL_END;
    if (slot != IX_NONE && slot >= p->layout.n_on && slot != p->layout.outside)
        return PASS_UNTIL_BALANCE;
    return p->power && p->end != CHECK_POWER_FIRST ? PASS_UNTIL_POWER : PASS_UNTIL_END;
}

/* A move for balance may not leave failover capacity missing, nor a host so full that another must be woken.
 * That shows only when all are made, so the pass then decides again without the move that is the cause. */
static void decide_until_it_stands(struct pass *p, struct question *q)
{
    decide(p, q);
    for (uint32_t tries = 1; p->hold_back != IX_NONE; tries++) {
        q->held_back = q->held_back ? q->held_back : arena_array(q->a, bool, p->layout.n_units);
        hold_back_more(p, tries, q->held_back);
        decide(p, q);
    }
}

/* Maintenance keeps failover capacity where it can. Where it cannot, VMs would crowd on the hosts that hold
 * no failover slots, for capacity that is missing all the same. */
static void choose_evacuation(struct pass *p, struct question *q)
{
    struct pass *other = arena_new(q->a, struct pass);
    struct question corrected = *q;
    bool enters = false;

    for (uint32_t i = 0; i < q->snap->n_hosts; i++)
        enters = enters || q->snap->hosts[i].is.state == HOST_ENTERING_MAINTENANCE;
    if (!enters || (q->snap->ha.policy == HA_NONE && q->snap->ha_configured.policy == HA_NONE))
        return;
    corrected.until = PASS_UNTIL_CORRECTED;
    decide(p, &corrected);
    if (!p->layout.failover.had_gaps || !(plan_failover_lack(&p->layout) > 0))
        return;
    corrected.gives_up_failover = true;
    decide(other, &corrected);
    q->gives_up_failover = plan_evacuates_better(other, p);
}

static bool *copy_held_back(const struct question *q, uint32_t n_units)
{
    return q->held_back ? arena_copy(q->a, q->held_back, n_units, sizeof *q->held_back) : NULL;
}

/* Answers another question, too, and keeps its answer if that is better. */
static bool decide_other(struct pass *p, struct question *q, struct question other)
{
    struct pass *tried = arena_new(q->a, struct pass);

    other.held_back = copy_held_back(q, p->layout.n_units);
    decide_until_it_stands(tried, &other);
    if (!plan_balances_better(tried, p))
        return false;
    *q = other;
    decide(p, q);
    return true;
}

/* Where the number of moves is limited or a load stays above 1, moves that stand may keep others out that
 * gain more. Elsewhere these are made beside them. */
static void decide_anew(struct pass *p, struct question *q)
{
    struct question anew = *q;

    anew.anew = true;
    if (p->measure.stands && (p->end == CHECK_MOVES_MAX || p->measure.over > 0))
        (void)decide_other(p, q, anew);
}

/* The deep search (balance/deep_search.h) starts from the moves of the greedy pass. Another pass then makes
 * the moves that it proposes, and is kept if it is better. */
static void decide_deeper(struct pass *p, struct question *q)
{
    struct pass *other = arena_new(q->a, struct pass);
    struct question deeper = *q;
    struct proposal greedy;

    plan_moves_for_balance(p, &greedy);
    deeper.search_from = &greedy;
    decide(other, &deeper);
    struct proposal *found = arena_new(q->a, struct proposal);
    *found = other->found;
    p->stats.evaluated += found->evaluated;
    if (found->n == 0)
        return;
    deeper.search_from = NULL;
    deeper.proposal = found;
    if (decide_other(p, q, deeper))
        p->stats.evaluated += found->evaluated;
}

void pass_decide(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                 uint32_t watched_vm, struct arena *a)
{
    struct question q = {.snap = snap,
                         .policy = policy,
                         .rules = rules,
                         .watched_vm = IX_NONE,
                         .until = PASS_UNTIL_END,
                         .a = a};

    choose_evacuation(p, &q);
    decide_until_it_stands(p, &q);
    decide_anew(p, &q);
    if (policy->search == SEARCH_DEEP && p->measure.known)
        decide_deeper(p, &q);
    if (watched_vm == IX_NONE)
        return;
    q.watched_vm = watched_vm;
    decide(p, &q);
    q.until = judged_at(p);
    if (q.until == PASS_UNTIL_END)
        return;
    const struct pass whole = *p;
    decide(p, &q);
    p->end = whole.end;
    for (uint32_t i = 0; i < p->layout.n_on; i++) {
        p->layout.asleep[i] = whole.layout.asleep[i];
        p->layout.closing[i] = whole.layout.closing[i];
    }
}

int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err)
{
    if (policy->migration_threshold < 1 || policy->migration_threshold > 5)
        return err_set(err, -EINVAL, "migration_threshold is %lld, expected 1 ... 5",
                       (long long)policy->migration_threshold);
    struct pass *p = preferred_rules_run(snap, policy, IX_NONE, a); /* calls pass_decide() per trial */

    *ret = (struct plan){.snap = snap, .policy = p->policy, .before = p->before, .end = p->end};
    pass_order(p, ret); /* 8. order: dependencies, groups, priorities, reasons, the state after */
    host_settings(enforced_wanted(snap, a), p->demand, a, &ret->settings, &ret->n_settings);
    vm_controls(snap, p->demand, a, &ret->vm_settings, &ret->n_vm_settings);
    ret->ratio = plan_ratio_finding(p);
    ret->refused = plan_refused_finding(p, 0, p->layout.n_on);
    ret->stays_on = p->power ? power_stays_finding(p->power) : NULL;
    ret->ready_wakes = ready_by_wake_times(p);
    ret->faults = p->faults;
    ret->n_faults = (uint32_t)p->n_faults;
    ret->stats = p->stats;
    plan_tell_room(p, ret);
    return 0;
}

/* ---- parts of the steps ---- */

/* The guard's snapshot replaces impossible samples. */
static void estimate_demand(struct pass *p, const struct snapshot *snap)
{
    sample_guard_judge(snap, &p->policy, p->a, &p->guard);
    p->snap = p->guard.snap;
    if (sample_guard_distrusts(&p->guard) || layout_find_avoid(snap, IX_NONE, IX_NONE))
        p->policy.optional_moves = false;
    for (int r = 0; r < RES_COUNT; r++) {
        p->demand[r] = arena_array(p->a, double, p->snap->n_vms);
        demand_estimate(p->snap, (enum resource)r, p->demand[r]);
    }
}

/* The resources may be divided in two threads, so each has an arena of its own. */
struct division {
    struct pass *p;
    struct arena own[RES_COUNT];
};

/* A VM that waits for placement takes no part in the divvy: its entitlement is its configured demand. */
static void divide_resources(void *arg, uint32_t begin, uint32_t end)
{
    struct division *d = arg;
    struct pass *p = d->p;

    for (uint32_t r = begin; r < end; r++) {
        (void)divvy_entitle(p->snap, (enum resource)r, p->demand[r], &d->own[r], p->entitlement[r]);
        demand_add_waiting(p->snap, (enum resource)r, p->demand[r]);
        demand_add_waiting(p->snap, (enum resource)r, p->entitlement[r]);
    }
}

static void divide(struct pass *p)
{
    struct division d = {.p = p};

    for (int r = 0; r < RES_COUNT; r++)
        p->entitlement[r] = arena_array(p->a, double, p->snap->n_vms);
    parallel_for(p->policy.thread_pool, RES_COUNT, p->snap->n_vms > LAYOUT_UNITS_GRAIN ? 1 : RES_COUNT,
                 divide_resources, &d);
    for (int r = 0; r < RES_COUNT; r++)
        arena_join(p->a, &d.own[r]);
    admission_init(p->snap, p->a, &p->admission);
}

/* Hosts whose wake is under way or approved: the pass wakes no other host in their place. */
static void find_coming(struct pass *p)
{
    const struct layout *l = &p->layout;

    p->coming = arena_array(p->a, bool, (size_t)l->n_slots + 1);
    p->slot_move_group = arena_array(p->a, uint32_t, (size_t)l->n_slots + 1);
    for (uint32_t i = 0; i < l->n_slots; i++)
        p->coming[i] = p->snap->hosts[l->slot_host[i]].is.state == HOST_POWERING_ON;
    for (uint32_t i = 0; i < p->snap->n_pending; i++) {
        const struct pending *w = &p->snap->pending[i];
        if (w->action == ACTION_POWER_ON && l->host_slot[w->host] != IX_NONE)
            p->coming[l->host_slot[w->host]] = true;
    }
}

/* The metrics of a layout, with the scores of power management. */
static void measure(const struct pass *p, const struct layout *l, struct metrics *ret)
{
    layout_metrics(l, ret, p->a);
    utilization_scores(l, p->capped, ret->dpm_high, ret->dpm_low);
}

/* The layout, the cost model of migrations, and the climb. */
static void build_layout(struct pass *p)
{
    layout_init(&p->layout, p->snap, &p->policy, &p->rules, p->entitlement, p->a);
    find_coming(p);
    plan_standing_init(p);
    p->has_room_size = spaces_init(&p->spaces, &p->layout, p->a);
    p->spaces_before = p->has_room_size ? spaces_of_all(&p->spaces) : 0;
    migration_cost_init(&p->migration_cost, &p->layout, p->demand, p->entitlement, p->a);
    struct capped_demand *capped = arena_new(p->a, struct capped_demand);
    capped_demand_init(capped, p->snap, p->a);
    p->capped = capped;
    measure(p, &p->layout, &p->before);
    if (p->policy.moves_max == MOVES_AUTO)
        p->policy.moves_max = migration_cost_moves_per_interval(&p->migration_cost);
    p->stats.candidates = (uint64_t)p->layout.n_units * p->layout.n_on;
    climb_init(&p->climb, &p->layout, &p->migration_cost, &p->stats, p->a);
    exchange_search_init(&p->exchanges, &p->layout);
}

void pass_order(struct pass *p, struct plan *ret)
{
    measure(p, plan_order(p, ret), &ret->after);
    ret->policy.thread_pool = NULL; /* the threads may end before the plan */
}
