/* Constraint correction: mandatory moves before the balancing (§3.3). Evacuates hosts, mends violated rules,
 * and relieves hosts with excess reservations. */
#include "core/plan/correct.h"

#include "core/plan/host_wakes.h"
#include "core/plan/plan.h"
#include "core/plan/prerequisite_moves.h"

/* An excess of reservations below this share of the capacity is rounding. */
#define ROUNDING 1e-6

bool correct_can_move(const struct layout *l, uint32_t unit)
{
    enum check held = l->unit_held[unit];

    return held == CHECK_NONE || held == CHECK_RULE_AFFINITY || layout_holds_from_balance(held);
}

bool correct_may_move(const struct layout *l, uint32_t unit, unsigned priority)
{
    return correct_can_move(l, unit) &&
           (priority == PRIORITY_MANDATORY ||
            (!layout_cools_down(l, unit) && !layout_moves_only_if_it_must(l, unit)));
}

/* Whether the unit has a destination, and no person rejected moves of it for this reason. */
static bool may_leave(const struct pass *p, uint32_t unit, enum reason reason, struct obstacle *ret_why)
{
    *ret_why = (struct obstacle){CHECK_VM_REJECTED, unit, IX_NONE};
    return !layout_is_rejected(&p->layout, unit, reason) && correct_best_target(p, unit, ret_why) != IX_NONE;
}

/* Of the allowed hosts, takes a host with another member of the unit's affine set; then one that buckets do
 * not rank below its own; then the lowest imbalance, to which a lower score adds. */
uint32_t correct_best_target(const struct pass *p, uint32_t unit, struct obstacle *ret_why)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    struct move_rank best_rank = {0};
    bool best_joins = false;
    double weight[RES_COUNT];
    struct move_trial t;

    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    bool scattered = l->unit_held[unit] == CHECK_RULE_AFFINITY;
    *ret_why = (struct obstacle){.check = CHECK_HOST_NOT_ON, .unit = unit, .slot = IX_NONE};
    for (uint32_t i = 0; i < l->n_slots; i++) {
        bool on = i < l->n_on;
        if (i == l->unit_slot[unit] || (!on && !l->waking[i]))
            continue;
        enum check check = layout_check(l, unit, i);
        if (check > ret_why->check || (check == ret_why->check && ret_why->slot == IX_NONE))
            *ret_why = (struct obstacle){.check = check, .unit = unit, .slot = i};
        if (check != CHECK_NONE)
            continue;
        bool joins = scattered && layout_has_component(l, i, unit);
        double imbalance = on ? plan_standing_imbalance(p, unit, i, move_trial_at(l, &t, i))
                              : NO_LIMIT; /* a host that the plan wakes anyway: last choice */
        struct move_rank rank = move_preference_rank(l, p->climb.score.preference, unit, i, imbalance);
        if (best == IX_NONE || joins > best_joins ||
            (joins == best_joins && move_rank_is_better(rank, best_rank))) {
            best = i;
            best_rank = rank;
            best_joins = joins;
        }
    }
    return best;
}

/* The best host for a unit that cannot stay. If its affine set is scattered, a part of the set that all other
 * parts can join as well, so that none moves twice. */
static uint32_t slot_for_evicted_unit(struct pass *p, uint32_t unit, struct obstacle *ret_why)
{
    struct layout *l = &p->layout;

    if (l->unit_held[unit] == CHECK_RULE_AFFINITY) {
        uint32_t to =
            affine_set_meeting_slot(l, p->rules.component[l->unit_first[unit]], PRIORITY_MANDATORY, ret_why);
        if (to != IX_NONE && to != l->unit_slot[unit])
            return to;
    }
    return correct_best_target(p, unit, ret_why);
}

enum outcome correct_bring_out(struct pass *p, uint32_t unit, struct cause cause, struct obstacle *ret_why,
                               uint32_t *ret_slot)
{
    bool must = cause.priority == PRIORITY_MANDATORY && p->may_make_room;

    if (layout_is_rejected(&p->layout, unit, cause.reason)) {
        *ret_why = (struct obstacle){CHECK_VM_REJECTED, unit, IX_NONE};
        return OUTCOME_STUCK;
    }
    struct prerequisite_moves way = {.to_slot = slot_for_evicted_unit(p, unit, ret_why)};
    if (way.to_slot == IX_NONE && must && !prerequisite_moves_find(p, unit, IX_NONE, NULL, &way)) {
        *ret_slot = host_wake_under_way(p, unit);
        if (*ret_slot != IX_NONE)
            return OUTCOME_WAITS;
        way.to_slot = host_wake_find(p, unit, cause.reason);
        if (way.to_slot != IX_NONE)
            host_wake_for(p, way.to_slot, cause.reason, p->layout.unit_first[unit]);
    }
    if (way.to_slot == IX_NONE)
        return OUTCOME_STUCK;
    uint32_t move_group = p->move_group;
    bool goes_on = prerequisite_moves_take(p, unit, &way) &&
                   plan_move(p, unit, way.to_slot, cause.reason, cause.rule, cause.priority);
    p->move_group = move_group;
    return goes_on ? OUTCOME_MOVED : OUTCOME_STOPPED;
}

uint32_t correct_peer_beside(const struct pass *p, uint32_t unit, uint32_t slot)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t peer = p->snap->vms[l->unit_vms[i]].ft_peer;
        if (peer != IX_NONE && layout_slot_of(l, peer) == slot)
            return peer;
    }
    return IX_NONE;
}

/* ---- rules ---- */

unsigned correct_priority(const struct pass *p, uint32_t rule)
{
    return rule != IX_NONE && !p->snap->rules[rule].is.mandatory ? PRIORITY_PREFERRED : PRIORITY_MANDATORY;
}

bool correct_is_due(const struct pass *p, unsigned priority)
{
    return priority == PRIORITY_MANDATORY ||
           (p->policy.optional_moves && priority <= p->policy.migration_threshold);
}

static bool is_due(const struct pass *p, uint32_t rule)
{
    return correct_is_due(p, correct_priority(p, rule));
}

/* Whether the VM must leave the host though no rule says so: it is incompatible, or its pipeline evicts it.
 */
static bool is_out_of_place(const struct pass *p, uint32_t vm, uint32_t host)
{
    const struct vm *v = &p->snap->vms[vm];

    return (v->compatible_given && !span_has(v->compatible_hosts, host)) ||
           (v->host == host && rules_fit_evicts(&p->rules, vm));
}

/* The VM of the unit that violates the rule; rule IX_NONE: the VM that is incompatible with its host. */
static uint32_t violator_of(const struct pass *p, uint32_t unit, uint32_t rule)
{
    const struct layout *l = &p->layout;
    uint32_t host = l->slot_host[l->unit_slot[unit]];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        if (rule == IX_NONE ? is_out_of_place(p, vm, host) : span_has(p->snap->rules[rule].vms, vm))
            return vm;
    }
    return l->unit_first[unit];
}

/* coming: the waking host that the VM waits for. IX_NONE: no such host; `because` says why the VM cannot
 * move. */
static void report_violated(struct pass *p, uint32_t unit, uint32_t rule, uint32_t coming,
                            const struct finding *because)
{
    const struct layout *l = &p->layout;
    uint32_t vm = violator_of(p, unit, rule);
    uint32_t slot = l->unit_slot[unit];
    uint32_t peer = rule == IX_NONE ? correct_peer_beside(p, unit, slot) : IX_NONE;
    bool evicted = rule == IX_NONE && peer == IX_NONE && rules_fit_evicts(&p->rules, vm);
    struct layout_excess excess = {.stage = IX_NONE};
    bool counted = rule == IX_NONE && peer == IX_NONE && !evicted && l->used &&
                   layout_quantity_refuses(l, FIT_CORRECT, unit, slot, &excess);
    const struct refusal *refusal =
        evicted ? fit_refusal(&p->rules.fit, FIT_CORRECT, vm, l->slot_host[slot], NULL, p->a) : NULL;

    plan_fault(p, FAULT_RULE_VIOLATED, vm, l->slot_host[slot], rule,
               (struct finding){.code = coming == IX_NONE ? FIND_RULE_BROKEN : FIND_RULE_BROKEN_YET,
                                .subjects = {{SUBJECT_VM, vm},
                                             {SUBJECT_FT_PEER, peer},
                                             {SUBJECT_HOST, l->slot_host[slot]},
                                             {SUBJECT_OTHER_HOST, coming},
                                             {SUBJECT_RULE, rule},
                                             {SUBJECT_STAGE, refusal   ? refusal->stage
                                                             : counted ? excess.stage
                                                                       : IX_NONE}},
                                .refusal = refusal,
                                .because = because});
}

void correct_violated(struct pass *p, uint32_t unit, uint32_t rule, struct obstacle why)
{
    report_violated(p, unit, rule, IX_NONE, obstacle_finding(p, why));
}

/* Moves the unit to the best allowed host, or adds a fault. False: the pass stops here. */
static bool mend(struct pass *p, uint32_t unit, uint32_t rule)
{
    struct obstacle why = {.check = p->layout.unit_held[unit], .unit = unit, .slot = IX_NONE};

    if (!correct_can_move(&p->layout, unit)) {
        bool is_said = why.check == CHECK_UNIT_HELD &&
                       correct_peer_beside(p, unit, p->layout.unit_slot[unit]) == IX_NONE;
        if (why.check != CHECK_VM_MIGRATING && why.check != CHECK_VM_MOVED && !is_said &&
            why.check != CHECK_VM_RULES)
            correct_violated(p, unit, rule, why);
        return true;
    }
    if (!correct_may_move(&p->layout, unit, correct_priority(p, rule))) {
        if (layout_moves_only_if_it_must(&p->layout, unit))
            correct_violated(p, unit, rule, (struct obstacle){CHECK_VM_MANDATORY_ONLY, unit, IX_NONE});
        return true; /* after the cool-down, a later pass mends this: no fault */
    }
    struct cause cause = {.reason = REASON_RULE, .rule = rule, .priority = correct_priority(p, rule)};
    uint32_t waits_for;
    enum outcome outcome = correct_bring_out(p, unit, cause, &why, &waits_for);
    if (outcome == OUTCOME_STUCK)
        correct_violated(p, unit, rule, why);
    if (outcome == OUTCOME_WAITS)
        report_violated(p, unit, rule, p->layout.slot_host[waits_for], NULL);
    return outcome != OUTCOME_STOPPED;
}

/* The reason why the unit may not run on its host: incompatibility (IX_NONE), then a mandatory rule, then a
 * preferred one. */
static uint32_t host_rule_of(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    uint32_t host = l->slot_host[l->unit_slot[unit]];
    uint32_t best = IX_NONE;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        if (is_out_of_place(p, l->unit_vms[i], host))
            return IX_NONE;
        uint32_t rule = rules_find_vm_host(&p->rules, l->unit_vms[i], host);
        if (rule != IX_NONE && (best == IX_NONE || correct_priority(p, rule) < correct_priority(p, best)))
            best = rule;
    }
    return best;
}

/* Whether rules are mended on the slot: a host that is evacuated is emptied anyway. */
static bool is_corrected(const struct pass *p, uint32_t slot)
{
    return slot < p->layout.n_on || (slot < p->layout.n_slots && quarantine_has(p, slot));
}

/* Mends VM-host rules and incompatibility. */
static bool mend_hosts(struct pass *p)
{
    struct layout *l = &p->layout;

    for (uint32_t u = 0; u < l->n_units; u++) {
        uint32_t slot = l->unit_slot[u];
        if (!is_corrected(p, slot) || !l->unit_allowed[u] ||
            bitmap_has(l->unit_allowed[u], l->slot_host[slot]))
            continue;
        uint32_t rule = host_rule_of(p, u);
        if (is_due(p, rule) && !mend(p, u, rule))
            return false;
    }
    return true;
}

/* The cheapest to move of the group's members on this slot that have a destination; if none has, the cheapest
 * member. *ret_later: no member can move now, but one can after its cool-down. */
static uint32_t cheapest_member(const struct pass *p, struct span vms, uint32_t slot, unsigned priority,
                                bool *ret_later)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    uint32_t stuck = IX_NONE;
    bool rests = false;

    for (uint32_t i = 0; i < vms.n; i++) {
        uint32_t u = l->vm_unit[vms.items[i]];
        struct obstacle why;
        if (layout_slot_of(l, vms.items[i]) != slot || !correct_can_move(l, u))
            continue;
        if (priority != PRIORITY_MANDATORY && layout_moves_only_if_it_must(l, u)) {
            stuck = stuck == IX_NONE ? u : stuck;
            continue;
        }
        if (!correct_may_move(l, u, priority)) {
            rests = rests || may_leave(p, u, REASON_RULE, &why);
            continue;
        }
        if (best != IX_NONE && l->unit_backed[u] >= l->unit_backed[best])
            continue;
        if (may_leave(p, u, REASON_RULE, &why))
            best = u;
        else if (stuck == IX_NONE || l->unit_backed[u] < l->unit_backed[stuck])
            stuck = u;
    }
    *ret_later = best == IX_NONE && rests;
    return best != IX_NONE ? best : stuck;
}

static uint32_t members_on(const struct layout *l, struct span vms, uint32_t slot, uint32_t *ret_first)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < vms.n; i++)
        if (layout_slot_of(l, vms.items[i]) == slot && n++ == 0)
            *ret_first = i;
    return n;
}

/* Mends anti-affinity: of several VMs of a group on one host, all but one leave. One fault per host. */
static bool mend_apart(struct pass *p, uint32_t group)
{
    struct layout *l = &p->layout;
    uint32_t rule = p->rules.group_rule[group];
    struct span vms = p->snap->rules[rule].vms;

    if (!is_due(p, rule))
        return true;
    for (uint32_t i = 0; i < vms.n; i++) {
        uint32_t slot = layout_slot_of(l, vms.items[i]);
        uint32_t first = i;
        if (slot == IX_NONE || !is_corrected(p, slot) || members_on(l, vms, slot, &first) < 2 || first != i)
            continue;
        uint32_t u = l->vm_unit[vms.items[i]];
        bool later;
        uint32_t leaving = cheapest_member(p, vms, slot, correct_priority(p, rule), &later);
        if (later)
            continue;
        if (leaving == IX_NONE) {
            /* a contradiction between rules has a fault of its own */
            if (l->unit_held[u] != CHECK_VM_MIGRATING && !p->rules.held[vms.items[i]])
                correct_violated(p, u, rule, (struct obstacle){l->unit_held[u], u, IX_NONE});
            continue;
        }
        size_t faults = p->n_faults;
        if (!mend(p, leaving, rule))
            return false;
        if (p->n_faults == faults)
            i--; /* the host may run further members */
    }
    return true;
}

/* The secondary, unless only the primary can leave. If neither can, the one with the more specific obstacle:
 * "the affine set has just come together here" says least. */
static uint32_t half_to_move(const struct pass *p, uint32_t secondary, uint32_t primary)
{
    const struct layout *l = &p->layout;
    const uint32_t units[] = {l->vm_unit[secondary], l->vm_unit[primary]};
    struct obstacle why;

    for (int i = 0; i < 2; i++)
        if (correct_can_move(l, units[i]) && may_leave(p, units[i], REASON_RULE, &why))
            return units[i];
    for (int i = 0; i < 2; i++)
        if (correct_can_move(l, units[i]))
            return units[i];
    return l->unit_held[units[0]] == CHECK_UNIT_HELD ? units[1] : units[0];
}

/* Separates the halves of a fault-tolerant pair that run on one host. */
static bool mend_pairs(struct pass *p)
{
    for (uint32_t i = 0; i < p->snap->n_vms; i++) {
        uint32_t peer = p->snap->vms[i].ft_peer;
        uint32_t slot = layout_slot_of(&p->layout, i);
        if (p->snap->vms[i].is.kind != VM_FT_SECONDARY || peer == IX_NONE || slot == IX_NONE ||
            !is_corrected(p, slot) || layout_slot_of(&p->layout, peer) != slot)
            continue;
        if (!mend(p, half_to_move(p, i, peer), IX_NONE))
            return false;
    }
    return true;
}

/* ---- reservations ---- */

/* The smallest unit that removes the excess, else the largest, of the units that have a destination. If none
 * has a destination, the smallest that removes the excess. *ret_why: the obstacle of the units without one.
 */
static uint32_t unit_to_relieve(const struct pass *p, uint32_t slot, int r, double excess,
                                struct obstacle *ret_why)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    uint32_t stuck = IX_NONE; /* the first unit that would remove the excess but has no destination */

    *ret_why = (struct obstacle){.check = CHECK_UNIT_HELD, .unit = IX_NONE, .slot = IX_NONE};
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        struct obstacle why;
        double mine = l->unit_reserved[r][u];
        if (mine > 0 && ret_why->unit == IX_NONE)
            *ret_why = (struct obstacle){.check = l->unit_held[u], .unit = u, .slot = IX_NONE};
        if (mine <= 0 || !correct_can_move(l, u))
            continue;
        double theirs = best == IX_NONE ? 0 : l->unit_reserved[r][best];
        bool better = mine >= excess ? theirs < excess || mine < theirs : theirs < excess && mine > theirs;
        bool tie = mine == theirs && best != IX_NONE && l->unit_first[u] < l->unit_first[best];
        if (best != IX_NONE && !better && !tie)
            continue;
        if (may_leave(p, u, REASON_HOST_OVERCOMMITTED, &why)) {
            best = u;
            continue;
        }
        *ret_why = why;
        if (mine >= excess &&
            (stuck == IX_NONE || mine < l->unit_reserved[r][stuck] ||
             (mine == l->unit_reserved[r][stuck] && l->unit_first[u] < l->unit_first[stuck])))
            stuck = u;
    }
    return best != IX_NONE ? best : stuck;
}

/* The excess of the host's reservations over its capacity after the end of the migrations in flight. */
static double excess_of(const struct pass *p, uint32_t slot, int r)
{
    const struct layout *l = &p->layout;

    return l->reserved[r][slot] - l->leaving[r][slot] - p->snap->hosts[l->slot_host[slot]].capacity[r];
}

/* Reservations of agents that do not run yet. */
static double waiting_agents(const struct pass *p, uint32_t slot, int r)
{
    const struct host *h = &p->snap->hosts[p->layout.slot_host[slot]];
    double sum = 0;

    for (uint32_t i = 0; i < h->agents_required.n; i++) {
        const struct vm *agent = &p->snap->vms[h->agents_required.items[i]];
        bool waits = agent->is.state != VM_ON && agent->host == p->layout.slot_host[slot];
        sum += waits ? agent->is.alloc[r].reservation : 0;
    }
    return sum;
}

static bool relieve(struct pass *p, uint32_t slot, int r)
{
    uint32_t host = p->layout.slot_host[slot];

    for (;;) {
        double excess = excess_of(p, slot, r);
        if (excess <= ROUNDING)
            return true;
        struct obstacle why;
        uint32_t u = unit_to_relieve(p, slot, r, excess, &why);
        bool for_agent = excess <= waiting_agents(p, slot, r) + ROUNDING;
        struct cause cause = {for_agent ? REASON_AGENT : REASON_HOST_OVERCOMMITTED, IX_NONE,
                              PRIORITY_MANDATORY};
        uint32_t waits_for;
        enum outcome outcome =
            u == IX_NONE ? OUTCOME_STUCK : correct_bring_out(p, u, cause, &why, &waits_for);
        if (outcome == OUTCOME_STOPPED || outcome == OUTCOME_WAITS)
            return outcome == OUTCOME_WAITS;
        if (outcome == OUTCOME_STUCK) {
            plan_fault(p, FAULT_OVERCOMMITTED, IX_NONE, host, IX_NONE,
                       (struct finding){.code = FIND_HOST_OVERCOMMITTED,
                                        .resource = (enum resource)r,
                                        .subjects = {{SUBJECT_HOST, host}},
                                        .figures = {{FIGURE_EXCESS, excess}},
                                        .because = obstacle_finding(p, why)});
            return true;
        }
    }
}

/* ---- counted quantities ---- */

/* The cheapest to move of the units on the slot that a limit wants away, those with a destination first. */
static uint32_t cheapest_in_excess(const struct pass *p, uint32_t slot)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    bool best_goes = false;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        struct obstacle why;

        if (!layout_quantity_refuses(l, FIT_CORRECT, u, slot, NULL))
            continue;
        bool goes = correct_can_move(l, u) && may_leave(p, u, REASON_RULE, &why);
        bool cheaper =
            best != IX_NONE &&
            (l->unit_backed[u] < l->unit_backed[best] ||
             (l->unit_backed[u] == l->unit_backed[best] && l->unit_first[u] < l->unit_first[best]));
        if (best == IX_NONE || goes > best_goes || (goes == best_goes && cheaper)) {
            best = u;
            best_goes = goes;
        }
    }
    return best;
}

/* Moves VMs away from hosts on which a count is above its limit, until it is within. One fault per host. */
static bool mend_quantities(struct pass *p)
{
    struct layout *l = &p->layout;

    for (uint32_t slot = 0; l->used && slot < l->n_slots; slot++) {
        if (!is_corrected(p, slot))
            continue;
        for (;;) {
            uint32_t u = cheapest_in_excess(p, slot);
            size_t decisions = p->n_decisions;
            struct layout_excess x;

            if (u == IX_NONE)
                break;
            (void)layout_quantity_refuses(l, FIT_CORRECT, u, slot, &x);
            bool goes_on = mend(p, u, IX_NONE);
            for (size_t i = decisions; i < p->n_decisions; i++)
                if (p->decisions[i].unit == u)
                    p->decisions[i].evicted_by = x.stage + 1;
            if (!goes_on)
                return false;
            if (p->n_decisions == decisions)
                break;
        }
    }
    return true;
}

static void correct_once(struct pass *p)
{
    if (!correct_failover(p) || !evacuate_hosts(p) || !mend_hosts(p) || !mend_quantities(p) || !mend_pairs(p))
        return;
    for (uint32_t g = 0; g < p->rules.n_groups; g++)
        if (!mend_apart(p, g))
            return;
    if (!affine_sets_bring_together(p))
        return;
    for (uint32_t i = 0; i < p->layout.n_on; i++)
        for (int r = 0; r < RES_COUNT; r++)
            if (!relieve(p, i, r))
                return;
}

/* Repeats all corrections while a round moves something: the round may have freed the capacity that a failed
 * correction needs, or taken failover capacity. Prerequisite moves and wakes are allowed only after a round
 * that moved nothing. */
void plan_correct(struct pass *p)
{
    size_t faults = p->n_faults;
    size_t decisions;

    for (;;) {
        decisions = p->n_decisions;
        p->n_faults = faults; /* the next round adds the faults that still hold */
        correct_once(p);
        bool moved = p->n_decisions > decisions;
        bool settled =
            p->n_faults == faults && !(moved && p->layout.failover.had_gaps) && !p->layout.failover.unsaid;
        if (p->stopped || settled || (!moved && p->may_make_room))
            return;
        p->may_make_room = p->may_make_room || !moved;
    }
}
