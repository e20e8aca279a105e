/* A pass in eight steps; this file is their table of contents. Each step reads what the earlier ones finished
 * and adds one thing. Steps 1 to 7 run once for each choice of preferred rules that is tried
 * (preferred_rules.h), step 8 for the one that counts. Placement (place/) has steps of its own between 4
 * and 8. */
#include "core/pass.h"

#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/host_settings.h"
#include "core/plan/pass_state.h"
#include "core/plan/plan.h"
#include "core/power/power.h"
#include "core/power/ready_by.h"
#include "core/preferred_rules.h"

#include <errno.h>

/* Looking for prerequisite moves tries many hosts for many VMs. So many trials take a fraction of a second;
 * with fewer than a few hundred hosts they are never used up. */
#define PREREQUISITE_TRIALS 4000000

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
                       .prerequisite_trials = PREREQUISITE_TRIALS};
    estimate_demand(p, snap);                    /* 1. demand: samples -> what each VM wants */
    divide(p);                                   /* 2. divvy: pools -> what each VM may have */
    rules_compile(p->snap, rules, a, &p->rules); /* 3. rules: where VMs may be, and what contradicts */
    build_layout(p);                             /* 4. layout: the what-if copy that moves are made on */
}

void pass_decide(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                 uint32_t watched_vm, struct arena *a)
{
    pass_prepare(p, snap, policy, rules, watched_vm, a);
    plan_report_state(p); /* what is wrong with the cluster, whatever is decided */
    plan_correct(p);      /* 5. corrections: mandatory moves first */
    if (p->stopped)
        return;
    ready_by_wake(p);            /* 7. power, begun early: what must be on by a certain time is woken, */
    bool saves = power_first(p); /*    and what is not needed goes to standby before it is balanced */
    if (!saves)
        plan_balance(p); /* 6. balance: optional moves while they pay */
    plan_review(p);      /* what is missing for failures after all of them */
    if (!saves)
        power_evaluate(p); /* 7. power: wake or put to standby, each tried on the layout and taken back */
}

int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err)
{
    if (policy->migration_threshold < 1 || policy->migration_threshold > 5)
        return err_set(err, -EINVAL, "migration_threshold is %lld, expected 1 ... 5",
                       (long long)policy->migration_threshold);
    struct pass *p = preferred_rules_run(snap, policy, IX_NONE, a); /* calls pass_decide() for each choice */

    *ret = (struct plan){.snap = snap, .policy = p->policy, .before = p->before, .end = p->end};
    pass_order(p, ret); /* 8. order: dependencies, groups, priorities, reasons, the state after */
    host_settings(snap, p->demand, a, &ret->settings, &ret->n_settings);
    ret->ready_wakes = ready_by_wake_times(p);
    ret->faults = p->faults;
    ret->n_faults = (uint32_t)p->n_faults;
    ret->stats = p->stats;
    return 0;
}

/* ---- the parts of a step that belong together ---- */

/* Figures that cannot be right decide nothing. */
static void estimate_demand(struct pass *p, const struct snapshot *snap)
{
    guard_judge(snap, &p->policy, p->a, &p->guard);
    p->snap = p->guard.snap;
    if (guard_distrusts(&p->guard))
        p->policy.optional_moves = false;
    for (int r = 0; r < RES_COUNT; r++) {
        p->demand[r] = arena_array(p->a, double, p->snap->n_vms);
        demand_estimate(p->snap, (enum resource)r, p->demand[r]);
    }
}

/* VMs that wait to be placed take no part in it: each is taken to get what it is said to want. */
static void divide(struct pass *p)
{
    for (int r = 0; r < RES_COUNT; r++) {
        p->entitlement[r] = arena_array(p->a, double, p->snap->n_vms);
        (void)divvy_entitle(p->snap, (enum resource)r, p->demand[r], p->a, p->entitlement[r]);
        demand_add_waiting(p->snap, (enum resource)r, p->demand[r]);
        demand_add_waiting(p->snap, (enum resource)r, p->entitlement[r]);
    }
    admission_init(p->snap, p->a, &p->admission);
}

/* Hosts that are on their way already: no other is woken in their place. */
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

/* The figures of a state, those of power management included. */
static void measure(const struct layout *l, struct arena *a, struct metrics *ret)
{
    layout_metrics(l, ret, a);
    utilization_scores(l, ret->dpm_high, ret->dpm_low);
}

/* The layout, and what moves on it cost and gain. */
static void build_layout(struct pass *p)
{
    layout_init(&p->layout, p->snap, &p->policy, &p->rules, p->entitlement, p->a);
    find_coming(p);
    migration_cost_init(&p->migration_cost, &p->layout, p->demand, p->a);
    measure(&p->layout, p->a, &p->before);
    if (p->policy.moves_max == MOVES_AUTO)
        p->policy.moves_max = migration_cost_moves_per_interval(&p->migration_cost);
    p->stats.candidates = (uint64_t)p->layout.n_units * p->layout.n_on;
    climb_init(&p->climb, &p->layout, &p->migration_cost, &p->stats, p->a);
}

void pass_order(struct pass *p, struct plan *ret)
{
    measure(plan_order(p, ret), p->a, &ret->after);
}
