/* Mandatory moves, before anything is balanced (§3.3): hosts that are to be emptied, rules that are violated,
 * reservations that do not fit. */
#include "core/pass_state.h"

#include <stdlib.h>

#define PRIORITY_MANDATORY 1
#define PRIORITY_PREFERRED 2

/* Reservations within rounding of the capacity are not too much. */
#define ROUNDING 1e-6

/* What keeps a unit even from a mandatory move. A cool-down does not, nor that it should be balanced later.
 */
static bool can_be_moved(const struct layout *l, uint32_t unit)
{
    switch (l->unit_held[unit]) {
    case CHECK_NONE:
    case CHECK_VM_COOL_DOWN:
    case CHECK_VM_DEMAND_UNKNOWN:
    case CHECK_RULE_AFFINITY:
        return true;
    case CHECK_CURRENT_HOST:
    case CHECK_VM_NOT_RUNNING:
    case CHECK_VM_HOST_UNSEEN:
    case CHECK_VM_MIGRATING:
    case CHECK_VM_KIND:
    case CHECK_VM_DISABLED:
    case CHECK_VM_MOVED:
    case CHECK_UNIT_HELD:
    case CHECK_HOST_NOT_ON:
    case CHECK_INCOMPATIBLE:
    case CHECK_AGENT_MISSING:
    case CHECK_RULE_VM_HOST:
    case CHECK_RULE_ANTI_AFFINITY:
    case CHECK_RESERVATION_CPU:
    case CHECK_RESERVATION_MEM:
    case CHECK_MEMORY:
    case CHECK_MEMORY_FREE:
    case CHECK_MANDATORY_ONLY:
    case CHECK_TARGET_REACHED:
    case CHECK_NO_GAIN:
    case CHECK_MIN_GOODNESS:
    case CHECK_COST_BENEFIT:
    case CHECK_WORST_CASE:
    case CHECK_MOVES_MAX:
    case CHECK_LESS_GAIN:
    case check_count:
        return false;
    }
    return false;
}

/* Where the VM will be when what is under way has ended: a violation that is being mended already is none,
 * and one that is on its way is one. IX_NONE: it takes no part. */
static uint32_t place_of(const struct layout *l, uint32_t vm)
{
    if (l->vm_unit[vm] == IX_NONE)
        return IX_NONE;
    return l->going_to[vm] != IX_NONE ? l->going_to[vm] : l->unit_slot[l->vm_unit[vm]];
}

/* The host where it does most for the balance, of those it may go to; a host with another member of its
 * affine set first. IX_NONE: none, and *ret_why the check that failed on the host that came closest: the
 * checks are asked in order. CHECK_HOST_NOT_ON: there is no other host. */
static uint32_t best_target(const struct pass *p, uint32_t unit, enum check *ret_why)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    double best_imbalance = 0;
    bool best_joins = false;
    double weight[RES_COUNT];
    struct trial t;

    layout_weights(l, weight);
    trial_begin(l, weight, unit, &t);
    bool scattered = l->unit_held[unit] == CHECK_RULE_AFFINITY;
    *ret_why = CHECK_HOST_NOT_ON;
    for (uint32_t i = 0; i < l->n_on; i++) {
        if (i == l->unit_slot[unit])
            continue;
        enum check check = layout_check(l, unit, i);
        *ret_why = check > *ret_why ? check : *ret_why;
        if (check != CHECK_NONE)
            continue;
        bool joins = scattered && layout_has_component(l, i, unit);
        double imbalance = trial_at(l, &t, i);
        if (best == IX_NONE || joins > best_joins || (joins == best_joins && imbalance < best_imbalance)) {
            best = i;
            best_imbalance = imbalance;
            best_joins = joins;
        }
    }
    return best;
}

/* Whether all the other parts of the set may come to this slot; in what order they come makes no difference
 * to what has to fit. */
static bool set_fits(const struct layout *l, uint32_t component, uint32_t slot)
{
    double mem = 0;
    double phys = 0;
    double reserved[RES_COUNT] = {0};

    for (uint32_t u = 0; u < l->n_units; u++) {
        if (l->rules->component[l->unit_first[u]] != component)
            continue;
        if (l->unit_slot[u] == slot) {
            if (l->unit_allowed[u] && !bitmap_has(l->unit_allowed[u], l->slot_host[slot]))
                return false; /* it must not be there itself, let alone bring others */
            continue;
        }
        if (!can_be_moved(l, u) || layout_check(l, u, slot) != CHECK_NONE)
            return false;
        mem += l->unit_mem[u];
        phys += l->unit_phys[u];
        for (int r = 0; r < RES_COUNT; r++)
            reserved[r] += l->unit_reserved[r][u];
    }
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    for (int r = 0; r < RES_COUNT; r++)
        if (reserved[r] > 0 && l->reserved[r][slot] + reserved[r] > h->capacity[r] + ROUNDING)
            return false;
    return l->mem_taken[slot] + mem <= l->mem_limit[slot] + ROUNDING && phys <= l->mem_free[slot] + ROUNDING;
}

/* The host to bring a set together on: where the most memory of it is already. */
static uint32_t meeting_place(const struct layout *l, uint32_t component)
{
    uint32_t best = IX_NONE;
    double best_there = -1;

    for (uint32_t i = 0; i < l->n_on; i++) {
        double there = 0;
        for (uint32_t k = 0; k < l->list[i].n; k++)
            if (l->rules->component[l->unit_first[l->list[i].items[k]]] == component)
                there += 1 + l->unit_backed[l->list[i].items[k]];
        if (there > best_there && set_fits(l, component, i)) {
            best = i;
            best_there = there;
        }
    }
    return best;
}

/* Where a unit goes that cannot stay. If its affine set is scattered, to the part of it that all the others
 * can join too, so that none has to move twice; else to the best host. */
static uint32_t way_out(const struct pass *p, uint32_t unit, enum check *ret_why)
{
    const struct layout *l = &p->layout;

    if (l->unit_held[unit] == CHECK_RULE_AFFINITY) {
        uint32_t to = meeting_place(l, p->rules.component[l->unit_first[unit]]);
        if (to != IX_NONE && to != l->unit_slot[unit])
            return to;
    }
    return best_target(p, unit, ret_why);
}

/* ---- hosts that are to be emptied ---- */

struct weighed_unit {
    double weight;
    uint32_t unit, vm;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed_unit *x = a;
    const struct weighed_unit *y = b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->vm > y->vm) - (x->vm < y->vm);
}

/* The units of a slot; its list changes while they are moved, so it is copied. */
static struct weighed_unit *sorted_units(const struct pass *p, uint32_t slot, uint32_t *ret_n)
{
    const struct layout *l = &p->layout;
    struct weighed_unit *units = arena_array(p->a, struct weighed_unit, l->list[slot].n);

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double weight = 0;
        for (int r = 0; r < RES_COUNT; r++)
            weight += l->unit_demand[r][u] * l->inverse[r][slot];
        units[i] = (struct weighed_unit){.weight = weight, .unit = u, .vm = l->unit_first[u]};
    }
    *ret_n = l->list[slot].n;
    qsort(units, *ret_n, sizeof units[0], heaviest_first);
    return units;
}

/* Said of every VM of the unit. held: what keeps it, or another of them, where it is; otherwise what keeps
 * them off the other hosts. */
static void cannot_evacuate(struct pass *p, uint32_t unit, uint32_t host, bool held, enum check why)
{
    const struct layout *l = &p->layout;
    bool alone = !held && why == CHECK_HOST_NOT_ON;
    const char *where = held || alone ? "" : "even on the host that comes closest, ";

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        enum check mine = held && layout_vm_check(l, vm) != why ? CHECK_UNIT_HELD : why;
        pass_fault(p, FAULT_CANNOT_EVACUATE, vm, host, IX_NONE,
                   arena_printf(p->a, "%s cannot leave %s: %s%s.", p->snap->vms[vm].is.name,
                                p->snap->hosts[host].is.name, where,
                                alone ? "no other host can run VMs" : check_meaning(mine)));
    }
}

static bool evacuate(struct pass *p, uint32_t slot, enum reason reason)
{
    struct layout *l = &p->layout;
    uint32_t n;
    struct weighed_unit *units = sorted_units(p, slot, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = units[i].unit;
        enum check why = l->unit_held[u];
        /* its own framework powers an agent off once the others have left; one that migrates is on its way */
        if (p->snap->vms[l->unit_first[u]].is.kind == VM_AGENT || why == CHECK_VM_MIGRATING)
            continue;
        if (!can_be_moved(l, u)) {
            cannot_evacuate(p, u, l->slot_host[slot], true, why);
            continue;
        }
        uint32_t to = way_out(p, u, &why);
        if (to == IX_NONE)
            cannot_evacuate(p, u, l->slot_host[slot], false, why);
        else if (!pass_take(p, u, to, reason, IX_NONE, PRIORITY_MANDATORY))
            return false;
    }
    return true;
}

static bool evacuate_hosts(struct pass *p)
{
    for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++) {
        enum host_state state = p->snap->hosts[p->layout.slot_host[i]].is.state;
        if (state == HOST_ENTERING_MAINTENANCE && !evacuate(p, i, REASON_MAINTENANCE))
            return false;
        if (state == HOST_ENTERING_STANDBY && !evacuate(p, i, REASON_STANDBY))
            return false;
    }
    return true;
}

/* ---- rules ---- */

static unsigned priority_of(const struct pass *p, uint32_t rule)
{
    return rule != IX_NONE && !p->snap->rules[rule].is.mandatory ? PRIORITY_PREFERRED : PRIORITY_MANDATORY;
}

/* At level 1 only mandatory moves are made: a preferred rule then keeps a VM from going somewhere, but moves
 * none. */
static bool is_due(const struct pass *p, uint32_t rule)
{
    return priority_of(p, rule) <= p->policy.migration_threshold;
}

/* The VM of the unit that the rule is about; rule IX_NONE: the one that is not compatible with its host. */
static uint32_t violator_of(const struct pass *p, uint32_t unit, uint32_t rule)
{
    const struct layout *l = &p->layout;
    uint32_t host = l->slot_host[l->unit_slot[unit]];

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        const struct vm *v = &p->snap->vms[vm];
        if (rule == IX_NONE ? v->compatible_given && !span_has(v->compatible_hosts, host)
                            : span_has(p->snap->rules[rule].vms, vm))
            return vm;
    }
    return l->unit_first[unit];
}

static void rule_violated(struct pass *p, uint32_t unit, uint32_t rule, enum check why)
{
    const struct layout *l = &p->layout;
    uint32_t vm = violator_of(p, unit, rule);
    uint32_t host = l->slot_host[l->unit_slot[unit]];
    const char *name = rule == IX_NONE ? "its compatibility"
                                       : arena_printf(p->a, "the rule \"%s\"", p->snap->rules[rule].is.name);

    pass_fault(p, FAULT_RULE_VIOLATED, vm, host, rule,
               arena_printf(p->a, "%s on %s violates %s and cannot be moved elsewhere: %s.",
                            p->snap->vms[vm].is.name, p->snap->hosts[host].is.name, name,
                            check_meaning(why)));
}

/* Moves the unit to the best host that it may go to, or says why not. False: the pass stops here. */
static bool mend(struct pass *p, uint32_t unit, uint32_t rule)
{
    enum check why = p->layout.unit_held[unit];

    if (!can_be_moved(&p->layout, unit)) {
        if (why != CHECK_VM_MIGRATING && why != CHECK_VM_MOVED && why != CHECK_UNIT_HELD)
            rule_violated(p, unit, rule, why);
        return true;
    }
    uint32_t to = way_out(p, unit, &why);
    if (to == IX_NONE) {
        rule_violated(p, unit, rule, why);
        return true;
    }
    return pass_take(p, unit, to, REASON_RULE, rule, priority_of(p, rule));
}

/* The rule that keeps the unit off the host it is on, the weightiest: compatibility (IX_NONE), then a
 * mandatory one. */
static uint32_t host_rule_of(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    uint32_t host = l->slot_host[l->unit_slot[unit]];
    uint32_t best = IX_NONE;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        const struct vm *v = &p->snap->vms[l->unit_vms[i]];
        if (v->compatible_given && !span_has(v->compatible_hosts, host))
            return IX_NONE;
        uint32_t rule = rules_find_vm_host(&p->rules, l->unit_vms[i], host);
        if (rule != IX_NONE && (best == IX_NONE || priority_of(p, rule) < priority_of(p, best)))
            best = rule;
    }
    return best;
}

/* VMs on hosts where they may not run. */
static bool mend_hosts(struct pass *p)
{
    struct layout *l = &p->layout;

    for (uint32_t u = 0; u < l->n_units; u++) {
        uint32_t slot = l->unit_slot[u];
        if (slot >= l->n_on || !l->unit_allowed[u] || bitmap_has(l->unit_allowed[u], l->slot_host[slot]))
            continue;
        uint32_t rule = host_rule_of(p, u);
        if (is_due(p, rule) && !mend(p, u, rule))
            return false;
    }
    return true;
}

/* The member of the group on this slot that is cheapest to move, of those that have somewhere to go; if none
 * has, the cheapest. */
static uint32_t cheapest_member(const struct pass *p, struct span vms, uint32_t slot)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    uint32_t stuck = IX_NONE;

    for (uint32_t i = 0; i < vms.n; i++) {
        uint32_t u = l->vm_unit[vms.items[i]];
        enum check why;
        if (place_of(l, vms.items[i]) != slot || !can_be_moved(l, u))
            continue;
        if (best != IX_NONE && l->unit_backed[u] >= l->unit_backed[best])
            continue;
        if (best_target(p, u, &why) != IX_NONE)
            best = u;
        else if (stuck == IX_NONE || l->unit_backed[u] < l->unit_backed[stuck])
            stuck = u;
    }
    return best != IX_NONE ? best : stuck;
}

static uint32_t members_on(const struct layout *l, struct span vms, uint32_t slot, uint32_t *ret_first)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < vms.n; i++)
        if (place_of(l, vms.items[i]) == slot && n++ == 0)
            *ret_first = i;
    return n;
}

/* Two VMs of a group on one host: all but one leave. What cannot be mended is said once a host. */
static bool mend_apart(struct pass *p, uint32_t group)
{
    struct layout *l = &p->layout;
    uint32_t rule = p->rules.group_rule[group];
    struct span vms = p->snap->rules[rule].vms;

    if (!is_due(p, rule))
        return true;
    for (uint32_t i = 0; i < vms.n; i++) {
        uint32_t slot = place_of(l, vms.items[i]);
        uint32_t first = i;
        if (slot == IX_NONE || slot >= l->n_on || members_on(l, vms, slot, &first) < 2 || first != i)
            continue;
        uint32_t u = l->vm_unit[vms.items[i]];
        uint32_t leaving = cheapest_member(p, vms, slot);
        if (leaving == IX_NONE) {
            /* a contradiction has been named already */
            if (l->unit_held[u] != CHECK_VM_MIGRATING && !p->rules.held[vms.items[i]])
                rule_violated(p, u, rule, l->unit_held[u]);
            continue;
        }
        size_t faults = p->n_faults;
        if (!mend(p, leaving, rule))
            return false;
        if (p->n_faults == faults)
            i--; /* perhaps there are more */
    }
    return true;
}

/* ---- affine sets that are scattered ---- */

/* The rule that wants the unit to be where another part of its set is; a mandatory one if there is one. */
static uint32_t rule_that_joins(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    for (uint32_t i = 0; i < p->snap->n_rules; i++) {
        const struct rule *rule = &p->snap->rules[i];
        bool mine = false;
        bool elsewhere = false;
        if (rule->is.kind != RULE_VM_AFFINE || !rules_in_force(&p->rules, rule))
            continue;
        for (uint32_t k = 0; k < rule->vms.n; k++) {
            uint32_t u = l->vm_unit[rule->vms.items[k]];
            mine = mine || u == unit;
            elsewhere = elsewhere || (u != IX_NONE && l->unit_slot[u] != l->unit_slot[unit]);
        }
        if (mine && elsewhere &&
            (best == IX_NONE || (rule->is.mandatory && !p->snap->rules[best].is.mandatory)))
            best = i;
    }
    return best;
}

/* The set comes together as a whole, or not at all: its weightiest rule says with what priority. */
static unsigned priority_of_set(const struct pass *p, uint32_t component)
{
    unsigned priority = PRIORITY_PREFERRED;

    for (uint32_t u = 0; u < p->layout.n_units; u++)
        if (p->rules.component[p->layout.unit_first[u]] == component)
            priority =
                priority_of(p, rule_that_joins(p, u)) == PRIORITY_MANDATORY ? PRIORITY_MANDATORY : priority;
    return priority;
}

/* One set whose parts are on several hosts. */
static bool bring_together(struct pass *p, uint32_t unit, uint32_t other)
{
    struct layout *l = &p->layout;
    uint32_t component = p->rules.component[l->unit_first[unit]];
    unsigned priority = priority_of_set(p, component);
    if (priority > p->policy.migration_threshold)
        return true;
    uint32_t to = meeting_place(l, component);
    if (to == IX_NONE) {
        enum check why = can_be_moved(l, unit) ? l->unit_held[other] : l->unit_held[unit];
        rule_violated(p, unit, rule_that_joins(p, unit),
                      can_be_moved(l, unit) && can_be_moved(l, other) ? CHECK_RULE_AFFINITY : why);
        return true;
    }
    for (uint32_t o = 0; o < l->n_units; o++) {
        if (p->rules.component[l->unit_first[o]] != component || l->unit_slot[o] == to)
            continue;
        if (!pass_take(p, o, to, REASON_RULE, rule_that_joins(p, o), priority))
            return false;
    }
    /* those that the others have come to do not leave any more, whatever is mended later */
    for (uint32_t i = 0; i < l->list[to].n; i++) {
        uint32_t o = l->list[to].items[i];
        if (p->rules.component[l->unit_first[o]] == component && l->unit_held[o] != CHECK_VM_MOVED)
            l->unit_held[o] = CHECK_UNIT_HELD;
    }
    return true;
}

/* Affine sets whose parts are on several hosts, whatever else holds them. A set of which some VM is on its
 * way is left until that has arrived: it may be what brings them together. */
static bool mend_together(struct pass *p)
{
    struct layout *l = &p->layout;
    uint32_t *first = arena_array(p->a, uint32_t, p->snap->n_vms); /* by component: a unit of it, + 1 */
    bool *done = arena_array(p->a, bool, p->snap->n_vms);

    for (uint32_t i = 0; i < p->snap->n_vms; i++)
        if (l->in_flight[i])
            done[p->rules.component[i]] = true;
    for (uint32_t u = 0; u < l->n_units; u++) {
        uint32_t component = p->rules.component[l->unit_first[u]];
        if (first[component] == 0) {
            first[component] = u + 1;
            continue;
        }
        uint32_t other = first[component] - 1;
        if (done[component] || l->unit_slot[u] == l->unit_slot[other] || p->rules.held[l->unit_first[u]])
            continue;
        done[component] = true;
        if (!bring_together(p, other, u))
            return false;
    }
    return true;
}

/* ---- reservations ---- */

/* The smallest unit that is enough, else the largest there is, of those that have somewhere to go.
 * *ret_why: what keeps the others. */
static uint32_t unit_to_relieve(const struct pass *p, uint32_t slot, int r, double excess,
                                enum check *ret_why)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    *ret_why = CHECK_UNIT_HELD;
    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        enum check why;
        double mine = l->unit_reserved[r][u];
        if (mine <= 0 || !can_be_moved(l, u))
            continue;
        double theirs = best == IX_NONE ? 0 : l->unit_reserved[r][best];
        bool better = mine >= excess ? theirs < excess || mine < theirs : theirs < excess && mine > theirs;
        bool tie = mine == theirs && best != IX_NONE && l->unit_first[u] < l->unit_first[best];
        if (best != IX_NONE && !better && !tie)
            continue;
        if (best_target(p, u, &why) != IX_NONE)
            best = u;
        else
            *ret_why = why;
    }
    return best;
}

/* By how much the host's reservations exceed what it has, once those have left that are leaving already. */
static double excess_of(const struct pass *p, uint32_t slot, int r)
{
    const struct layout *l = &p->layout;

    return l->reserved[r][slot] - l->passing[r][slot] - p->snap->hosts[l->slot_host[slot]].capacity[r];
}

static bool relieve(struct pass *p, uint32_t slot, int r)
{
    uint32_t host = p->layout.slot_host[slot];

    for (;;) {
        double excess = excess_of(p, slot, r);
        if (excess <= ROUNDING)
            return true;
        enum check why;
        uint32_t u = unit_to_relieve(p, slot, r, excess, &why);
        if (u == IX_NONE) {
            pass_fault(
                p, FAULT_OVERCOMMITTED, IX_NONE, host, IX_NONE,
                arena_printf(
                    p->a, "The %s reservations on %s exceed what it has by %s, and no VM can leave it: %s.",
                    r == RES_CPU ? "CPU" : "memory", p->snap->hosts[host].is.name,
                    r == RES_CPU ? text_mhz(p->a, excess) : text_mb(p->a, excess), check_meaning(why)));
            return true;
        }
        if (!pass_take(p, u, best_target(p, u, &why), REASON_HOST_OVERCOMMITTED, IX_NONE, PRIORITY_MANDATORY))
            return false;
    }
}

static void correct_once(struct pass *p)
{
    if (!evacuate_hosts(p) || !mend_hosts(p))
        return;
    for (uint32_t g = 0; g < p->rules.n_groups; g++)
        if (!mend_apart(p, g))
            return;
    if (!mend_together(p))
        return;
    for (uint32_t i = 0; i < p->layout.n_on; i++)
        for (int r = 0; r < RES_COUNT; r++)
            if (!relieve(p, i, r))
                return;
}

/* What could not be mended is tried again as long as something else was moved: that may have made room. */
void plan_correct(struct pass *p)
{
    size_t faults = p->n_faults;
    size_t decisions;

    do {
        decisions = p->n_decisions;
        p->n_faults = faults; /* said anew, if it is still so */
        correct_once(p);
    } while (!p->stopped && p->n_faults > faults && p->n_decisions > decisions);
}
