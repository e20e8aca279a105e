#include "core/pass.h"

#include "core/demand/demand.h"
#include "core/divvy/divvy.h"
#include "core/divvy/host_settings.h"
#include "core/pass_state.h"
#include "core/plan/correct.h"

#include <errno.h>

/* Looking for room tries many hosts for many VMs. So many trials take a fraction of a second; with fewer than
 * a few hundred hosts they are never used up. */
#define ROOM_TRIALS 4000000

/* The table of contents: each step reads what the earlier ones finished and adds one thing. */
int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err)
{
    if (policy->migration_threshold < 1 || policy->migration_threshold > 5)
        return err_set(err, -EINVAL, "migration_threshold is %lld, expected 1 ... 5",
                       (long long)policy->migration_threshold);
    struct pass *p =
        pass_settle(snap, policy, IX_NONE, a); /* demand, divvy, rules, layout, correction, climb, power */
    *ret = (struct plan){.snap = snap, .policy = p->policy, .before = p->before};
    plan_order(p, ret); /* dependencies, groups, sentences, the state after */
    host_settings(snap, p->demand, a, &ret->settings, &ret->n_settings);
    ret->faults = p->faults;
    ret->n_faults = (uint32_t)p->n_faults;
    ret->end = p->end;
    ret->ready_wakes = ready_wakes_by_host(p);
    ret->stats = p->stats;
    return 0;
}

/* ---- before the first decision ---- */

/* As many moves as can end within one interval: every migration takes a place on two hosts. */
static int64_t moves_within_interval(const struct pass *p)
{
    const struct layout *l = &p->layout;
    double sum_s = 0;
    uint32_t n = 0;
    double places = 0;

    for (uint32_t u = 0; u < l->n_units; u++) {
        if (l->unit_held[u] != CHECK_NONE)
            continue;
        sum_s += forecast_duration(&p->forecast, u, l->unit_slot[u], l->unit_slot[u]);
        n++;
    }
    for (uint32_t i = 0; i < l->n_on; i++) {
        uint32_t most = p->snap->hosts[l->slot_host[i]].is.migrations_max;
        places += most ? most : (double)p->policy.migrations_per_host;
    }
    places /= 2;
    if (p->policy.migrations_per_cluster > 0)
        places = fmin(places, (double)p->policy.migrations_per_cluster);
    double mean_s = n > 0 ? sum_s / n : 0;
    double moves = mean_s > 0 ? places * (double)p->policy.interval_s / mean_s : (double)l->n_units;

    return moves < 1 ? 1 : (int64_t)fmin(moves, 1e6);
}

static void report_state(struct pass *p)
{
    const struct snapshot *s = p->snap;

    admission_report(p);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        if (s->hosts[i].is.state == HOST_DISCONNECTED && s->hosts[i].vms.n > 0)
            pass_fault(p, FAULT_HOST_DISCONNECTED, IX_NONE, i, IX_NONE,
                       s->hosts[i].vms.n == 1
                           ? arena_printf(p->a, "%s is not seen; its VM was left alone.", s->hosts[i].is.name)
                           : arena_printf(p->a, "%s is not seen; its %u VMs were left alone.",
                                          s->hosts[i].is.name, s->hosts[i].vms.n));
    guard_report(p);
    rules_report(p);
}

/* VMs that wait to be placed take no part in the divvy yet: each is taken to get what it is said to want. */
static void expect_newcomers(struct pass *p)
{
    for (uint32_t i = 0; i < p->snap->n_vms; i++) {
        const struct vm_facts *v = &p->snap->vms[i].is;
        if (!vm_waits(&p->snap->vms[i]))
            continue;
        for (int r = 0; r < RES_COUNT; r++) {
            p->demand[r][i] = fmin(fmax(v->demand[r], v->alloc[r].reservation), v->alloc[r].limit);
            p->entitlement[r][i] = p->demand[r][i];
        }
    }
}

/* Hosts that are on their way already: no other is woken in their place. */
static void find_coming(struct pass *p)
{
    const struct layout *l = &p->layout;

    p->coming = arena_array(p->a, bool, (size_t)l->n_slots + 1);
    p->slot_bundle = arena_array(p->a, uint32_t, (size_t)l->n_slots + 1);
    for (uint32_t i = 0; i < l->n_slots; i++)
        p->coming[i] = p->snap->hosts[l->slot_host[i]].is.state == HOST_POWERING_ON;
    for (uint32_t i = 0; i < p->snap->n_pending; i++) {
        const struct pending *w = &p->snap->pending[i];
        if (w->action == ACTION_POWER_ON && l->host_slot[w->host] != IX_NONE)
            p->coming[l->host_slot[w->host]] = true;
    }
}

void pass_prepare(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                  uint32_t watched_vm, struct arena *a)
{
    *p = (struct pass){
        .policy = *policy, .a = a, .watched_vm = watched_vm, .for_vm = IX_NONE, .room_trials = ROOM_TRIALS};
    guard_judge(snap, policy, a, &p->guard);
    p->snap = snap = p->guard.snap;
    if (guard_distrusts(&p->guard))
        p->policy.optional_moves = false;
    for (int r = 0; r < RES_COUNT; r++) {
        p->demand[r] = arena_array(a, double, snap->n_vms);
        p->entitlement[r] = arena_array(a, double, snap->n_vms);
        demand_estimate(snap, (enum resource)r, p->demand[r]);
        (void)divvy_entitle(snap, (enum resource)r, p->demand[r], a, p->entitlement[r]);
    }
    expect_newcomers(p);
    admission_init(snap, a, &p->admission);
    rules_compile(snap, rules, a, &p->rules);
    layout_init(&p->layout, snap, &p->policy, &p->rules, p->entitlement, a);
    find_coming(p);
    forecast_init(&p->forecast, &p->layout, p->demand, a);
    layout_metrics(&p->layout, &p->before, a);
    if (p->policy.moves_max == MOVES_AUTO)
        p->policy.moves_max = moves_within_interval(p);
    p->stats.candidates = (uint64_t)p->layout.n_units * p->layout.n_on;
    report_state(p);
}

/* ---- deciding ---- */

void pass_fault(struct pass *p, enum fault_code code, uint32_t vm, uint32_t host, uint32_t rule,
                const char *text)
{
    p->faults = arena_grow(p->a, p->faults, p->n_faults, &p->cap_faults, sizeof p->faults[0]);
    p->faults[p->n_faults++] =
        (struct fault){.code = code, .vm = vm, .host = host, .rule = rule, .text = text};
}

static bool is_watched(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;

    return p->watched_vm != IX_NONE && l->vm_unit[p->watched_vm] == unit;
}

void pass_record(struct pass *p, const struct decision *d)
{
    p->decisions = arena_grow(p->a, p->decisions, p->n_decisions, &p->cap_decisions, sizeof p->decisions[0]);
    p->decisions[p->n_decisions++] = *d;
}

bool pass_take(struct pass *p, uint32_t unit, uint32_t to_slot, enum reason reason, uint32_t rule,
               unsigned priority)
{
    struct layout *l = &p->layout;
    uint32_t from = l->unit_slot[unit];
    struct decision d = {.action = from == l->outside ? ACTION_PLACE : ACTION_MIGRATE,
                         .unit = unit,
                         .from_slot = from,
                         .to_slot = to_slot,
                         .rule = rule,
                         .for_vm = p->for_vm,
                         .bundle = p->bundle != 0 ? p->bundle : p->slot_bundle[to_slot],
                         .reason = reason,
                         .priority = priority,
                         .imbalance_before = layout_imbalance(l)};

    for (int r = 0; r < RES_COUNT; r++) {
        d.load_from[r] = l->norm[r][d.from_slot];
        d.load_to[r] = l->norm[r][to_slot];
    }
    if (d.action == ACTION_MIGRATE)
        forecast_judge(&p->forecast, unit, to_slot, &d.worth);
    if (is_watched(p, unit)) {
        /* there and back again: the hosts are then judged at the moment before */
        struct layout_mark mark;
        layout_try(l, unit, to_slot, &mark);
        d.imbalance_after = layout_imbalance(l);
        layout_undo(l, &mark);
        p->stopped = true;
        p->next = d;
        return false;
    }
    climb_apply(&p->climb, &(struct move){.unit = unit, .to_slot = to_slot});
    d.imbalance_after = layout_imbalance(l);
    for (int r = 0; r < RES_COUNT; r++)
        d.kept[r] = l->spare.room[r][to_slot];
    pass_record(p, &d);
    return true;
}

/* 6 - ⌈I / (0.1 · √(2 / n))⌉, within 2 ... 5: what a level needs to reach its own target has at most its own
 * number. A move that is made because of an outlier, below the target, has a higher one; it is in the plan
 * all the same. */
static unsigned priority_at(const struct layout *l, double imbalance)
{
    double unit = layout_target(l->n_on, 4);
    double priority = unit > 0 ? 6 - ceil(imbalance / unit) : 5;

    return priority < 2 ? 2 : priority > 5 ? 5 : (unsigned)priority;
}

/* The resource whose part of the imbalance falls more. */
static enum reason balance_reason(const struct pass *p, const struct move *m)
{
    const struct layout *l = &p->layout;
    double fall[RES_COUNT];
    struct trial t;

    trial_begin(l, p->climb.judge.weight, m->unit, &t);
    for (int r = 0; r < RES_COUNT; r++) {
        struct trial one = t;
        one.weight[!r] = 0;
        fall[r] = t.weight[r] * layout_sigma(l, (enum resource)r) - trial_at(l, &one, m->to_slot);
    }
    return fall[RES_MEM] > fall[RES_CPU] ? REASON_BALANCE_MEM : REASON_BALANCE_CPU;
}

/* Whether there is anything left to even out. */
static bool is_balanced(const struct pass *p, double imbalance)
{
    double target = layout_target(p->layout.n_on, p->policy.migration_threshold);

    return imbalance <= target && !layout_has_outlier(&p->layout, p->policy.migration_threshold);
}

/* What the corrections leave of the moves that the plan may have; UINT32_MAX: no limit. */
static uint32_t moves_left(const struct pass *p)
{
    int64_t left = p->policy.moves_max;

    if (left <= 0)
        return UINT32_MAX;
    for (size_t i = 0; i < p->n_decisions; i++) {
        uint32_t u = p->decisions[i].unit;
        left -= u == IX_NONE ? 0 : p->layout.unit_from[u + 1] - p->layout.unit_from[u];
    }
    return left > 0 ? (uint32_t)left : 0;
}

static void balance_climb(struct pass *p)
{
    uint32_t left = moves_left(p);

    p->end = CHECK_MANDATORY_ONLY;
    if (p->policy.migration_threshold == 1 || !p->policy.optional_moves)
        return;
    for (;;) {
        double imbalance = layout_imbalance(&p->layout);
        bool balanced = is_balanced(p, imbalance);
        p->end = balanced ? CHECK_TARGET_REACHED : left == 0 ? CHECK_MOVES_MAX : CHECK_NONE;
        if (p->end != CHECK_NONE)
            return;
        p->climb.judge.vms_left = left;
        struct move m = climb_step(&p->climb);
        if (m.unit == IX_NONE) {
            if (climb_lower_goodness(&p->climb))
                continue;
            return;
        }
        uint32_t members = p->layout.unit_from[m.unit + 1] - p->layout.unit_from[m.unit];
        if (!pass_take(p, m.unit, m.to_slot, balance_reason(p, &m), IX_NONE,
                       priority_at(&p->layout, imbalance)))
            return;
        left -= left == UINT32_MAX ? 0 : members;
    }
}

void pass_decide(struct pass *p)
{
    climb_init(&p->climb, &p->layout, &p->forecast, &p->stats, p->a);
    plan_correct(p);
    if (p->stopped)
        return;
    power_ready(p);
    bool saves = power_first(p);
    if (saves)
        p->end = CHECK_POWER_FIRST;
    else
        balance_climb(p);
    spare_review(p);
    climb_count_rejected(&p->climb);
    if (!saves)
        power_evaluate(p);
}
