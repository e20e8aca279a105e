/* Checks whether a VM may move at all and whether a unit may move to a slot, in the order of names.h; counts
 * violations of rules. */
#include "core/layout/layout.h"

#include <string.h>

/* Two sums of the same numbers may differ in their last digits: one MiB in a billion is no shortage. */
#define ROUNDING 1e-6

static bool cooling_down(const struct snapshot *s, const struct policy *p, const struct vm_facts *v)
{
    return snapshot_is_within(s, v->last_migrated, (double)p->cool_down_s);
}

bool layout_cools_down(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (cooling_down(l->snap, l->policy, &l->snap->vms[l->unit_vms[i]].is))
            return true;
    return false;
}

bool layout_moves_only_if_it_must(const struct layout *l, uint32_t unit)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (l->snap->vms[l->unit_vms[i]].is.mandatory_only)
            return true;
    return false;
}

bool layout_just_left(const struct layout *l, uint32_t unit, uint32_t slot)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        const struct vm *v = &l->snap->vms[l->unit_vms[i]];
        if (v->left_host != IX_NONE && v->left_host == l->slot_host[slot] &&
            cooling_down(l->snap, l->policy, &v->is))
            return true;
    }
    return false;
}

double layout_load_with(const struct layout *l, uint32_t unit, uint32_t slot, enum resource r)
{
    return l->norm[r][slot] + l->unit_demand[r][unit] * l->inverse[r][slot];
}

double layout_load_limit(const struct layout *l, enum resource r)
{
    return 1 - l->policy->headroom_percent[r] / 100;
}

bool layout_fills_headroom(const struct layout *l, uint32_t unit, uint32_t slot)
{
    for (int r = 0; r < RES_COUNT; r++)
        if (layout_load_with(l, unit, slot, (enum resource)r) > layout_load_limit(l, (enum resource)r))
            return true;
    return false;
}

bool layout_holds_from_balance(enum check held)
{
    return held == CHECK_VM_DEMAND_UNKNOWN || held == CHECK_VM_SAMPLE_BAD || held == CHECK_VM_FT ||
           held == CHECK_VM_MANDATORY_ONLY || held == CHECK_VM_COOL_DOWN || layout_holds_balance_only(held);
}

bool layout_holds_balance_only(enum check held)
{
    return held == CHECK_VM_REJECTED || held == CHECK_VM_HELD_BACK;
}

/* Checks that hold a VM from every move come first, so that a cool-down does not hide them. */
enum check layout_vm_check(const struct layout *l, uint32_t vm)
{
    const struct vm *v = &l->snap->vms[vm];

    if (v->is.state != VM_ON || v->host == IX_NONE)
        return CHECK_VM_NOT_RUNNING;
    if (v->is.kind == VM_SPARE || v->is.kind == VM_AGENT)
        return CHECK_VM_KIND; /* a spare VM takes no part on any host */
    if (!vm_takes_part(l->snap, v))
        return CHECK_VM_HOST_UNSEEN;
    if (l->in_flight[vm])
        return CHECK_VM_MIGRATING;
    if (v->is.immovable)
        return CHECK_VM_IMMOVABLE;
    if (v->is.automation == AUTOMATION_DISABLED)
        return CHECK_VM_DISABLED;
    if (l->rules->held[vm])
        return CHECK_VM_RULES;
    if (v->is.demand_unknown)
        return CHECK_VM_DEMAND_UNKNOWN;
    if (v->is.sample_bad)
        return CHECK_VM_SAMPLE_BAD;
    if (v->is.kind != VM_NORMAL)
        return CHECK_VM_FT;
    if (v->is.mandatory_only)
        return CHECK_VM_MANDATORY_ONLY;
    if (cooling_down(l->snap, l->policy, &v->is))
        return CHECK_VM_COOL_DOWN;
    return layout_find_rejection(l->snap, vm, REASON_BALANCE_CPU) ? CHECK_VM_REJECTED : CHECK_NONE;
}

/* An anti-affinity group has at most one member in a unit: two would contradict the affinity rule. */
bool layout_apart_conflict(const struct layout *l, uint32_t unit, uint32_t slot, uint32_t *ret_vm,
                           uint32_t *ret_other)
{
    const struct rules *rules = l->rules;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        for (uint32_t j = rules->groups.from[vm]; j < rules->groups.from[vm + 1]; j++) {
            uint32_t g = rules->groups.of[j];
            if (l->apart[(size_t)g * l->n_slots + slot] == 0)
                continue;
            if (!ret_vm)
                return true;
            *ret_vm = vm;
            *ret_other = IX_NONE;
            struct span vms = l->snap->rules[rules->group_rule[g]].vms;
            for (uint32_t k = 0; k < vms.n; k++) {
                uint32_t other = l->vm_unit[vms.items[k]];
                bool there = other != IX_NONE && l->unit_slot[other] == slot;
                if (vms.items[k] != vm && (there || l->other_end[vms.items[k]] == slot))
                    *ret_other = vms.items[k];
            }
            return true;
        }
    }
    return false;
}

/* Whether the other half of a fault-tolerant pair is on the slot, or migrates to it or from it. */
static bool ft_peer_conflicts(const struct layout *l, uint32_t unit, uint32_t slot)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t peer = l->snap->vms[l->unit_vms[i]].ft_peer;
        uint32_t theirs = peer == IX_NONE ? IX_NONE : l->vm_unit[peer];
        if (peer == IX_NONE || theirs == unit)
            continue;
        if ((theirs != IX_NONE && l->unit_slot[theirs] == slot) || l->other_end[peer] == slot)
            return true;
    }
    return false;
}

bool layout_has_component(const struct layout *l, uint32_t slot, uint32_t unit)
{
    uint32_t component = l->rules->component[l->unit_first[unit]];

    for (uint32_t u = l->set_first[component]; u != IX_NONE; u = l->unit_next[u])
        if (u != unit && l->unit_slot[u] == slot)
            return true;
    return false;
}

static enum check check_host_rules(const struct layout *l, uint32_t unit, uint32_t host)
{
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        if (!vm_is_compatible(&l->snap->vms[l->unit_vms[i]], host))
            return CHECK_INCOMPATIBLE;
    }
    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++)
        if (rules_fit_refuses(l->rules, l->unit_vms[i], host))
            return CHECK_FIT_FILTER;
    return CHECK_RULE_VM_HOST;
}

static enum check check_reserved(const struct layout *l, uint32_t unit, uint32_t to_slot)
{
    const struct host *h = &l->snap->hosts[l->slot_host[to_slot]];
    bool any = false;

    for (int r = 0; r < RES_COUNT; r++) {
        double more = l->unit_reserved[r][unit];
        if (more > 0 && l->reserved[r][to_slot] + more > h->capacity[r] + ROUNDING)
            return r == RES_CPU ? CHECK_RESERVATION_CPU : CHECK_RESERVATION_MEM;
        any = any || more > 0;
    }
    any = any || (l->snap->promise.by_admission && l->unit_mem[unit] > 0);
    return any && !failover_capacity_admits(&l->failover, unit, to_slot) ? CHECK_SPARE_CAPACITY : CHECK_NONE;
}

/* Why the host receives nothing. */
static enum check check_closed_host(const struct host *h)
{
    if (h->is.state != HOST_ON)
        return CHECK_HOST_NOT_ON;
    if (h->failover)
        return CHECK_FAILOVER_HOST;
    return h->is.quarantine ? CHECK_HOST_QUARANTINE : CHECK_HOST_UNHEALTHY;
}

/* What is read of the unit here, layout_units_are_alike() compares, or layout_checks_are_local() is false. */
enum check layout_check(const struct layout *l, uint32_t unit, uint32_t to_slot)
{
    uint32_t host = l->slot_host[to_slot];

    if (to_slot >= l->n_on && !l->waking[to_slot])
        return check_closed_host(&l->snap->hosts[host]);
    if (l->asleep[to_slot])
        return CHECK_HOST_SLEEPS;
    if (l->closing[to_slot])
        return CHECK_HOST_NOT_ON;
    if (l->unit_allowed[unit] && !bitmap_has(l->unit_allowed[unit], host))
        return check_host_rules(l, unit, host);
    if (l->rules->fit.live_from && layout_live_refuses(l, unit, to_slot))
        return CHECK_FIT_FILTER;
    /* agents start independently of one another */
    if (to_slot < l->n_on && !l->agents_ready[to_slot] && !layout_is_agent(l, unit))
        return CHECK_AGENT_MISSING;
    if (l->rules->n_groups > 0 && layout_apart_conflict(l, unit, to_slot, NULL, NULL))
        return CHECK_RULE_ANTI_AFFINITY;
    if (l->has_pairs && ft_peer_conflicts(l, unit, to_slot))
        return CHECK_FT_PEER;
    if (l->used && layout_quantity_refuses(l, FIT_MOVE, unit, to_slot, NULL))
        return CHECK_FIT_QUANTITY;
    enum check cells = l->cells ? layout_cells_refuse(l, unit, to_slot, IX_NONE, NULL, NULL) : CHECK_NONE;
    if (cells != CHECK_NONE)
        return cells;
    enum check check = check_reserved(l, unit, to_slot);
    if (check != CHECK_NONE)
        return check;
    if (l->unit_mem[unit] > 0 && l->mem_taken[to_slot] + l->unit_mem[unit] > l->mem_limit[to_slot] + ROUNDING)
        return CHECK_MEMORY;
    if (l->unit_phys[unit] > l->mem_free[to_slot] + ROUNDING)
        return CHECK_MEMORY_FREE;
    /* a VM that is powered on is not migrated */
    if (l->unit_avoided && bitmap_has(l->unit_avoided[unit], host) && l->unit_slot[unit] != l->outside)
        return CHECK_AVOID;
    if (l->moves_are_optional && layout_is_distrusted(l, to_slot))
        return CHECK_HOST_DISTRUSTED;
    return l->keeps_headroom && layout_fills_headroom(l, unit, to_slot) ? CHECK_HOST_LOAD : CHECK_NONE;
}

double layout_reclaims(const struct layout *l, uint32_t unit, uint32_t slot, double freed)
{
    double takes = l->unit_phys[unit] + l->unit_idle[unit];
    double lacks = takes - fmax(l->mem_free[slot] - l->mem_idle[slot] + freed, 0);

    if (!(l->unit_idle[unit] + l->mem_idle[slot] > 0) || !(lacks > ROUNDING))
        return 0; /* where nothing is reclaimed, layout_check() admits what is free */
    return fmin(lacks, takes);
}

/* ---- units that are checked alike ---- */

bool layout_checks_are_local(const struct layout *l, uint32_t unit)
{
    bool reserves = l->unit_reserved[RES_CPU][unit] > 0 || l->unit_reserved[RES_MEM][unit] > 0;
    uint32_t vm = l->unit_first[unit];
    uint32_t component = l->rules->component[vm];

    return l->unit_slot[unit] == l->outside && l->unit_from[unit + 1] - l->unit_from[unit] == 1 &&
           l->snap->vms[vm].ft_peer == IX_NONE && l->set_first[component] == unit &&
           l->unit_next[unit] == IX_NONE &&
           !((reserves || l->snap->promise.by_admission) && l->failover.active) &&
           !(l->cells && layout_takes_cells(l, unit));
}

/* Whether the lists of two VMs are equal: of_x[from[x]] ... */
static bool same_groups(const struct rules *rules, uint32_t x, uint32_t y)
{
    uint32_t n = rules->groups.from[x + 1] - rules->groups.from[x];

    if (n != rules->groups.from[y + 1] - rules->groups.from[y])
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (rules->groups.of[rules->groups.from[x] + i] != rules->groups.of[rules->groups.from[y] + i])
            return false;
    return true;
}

static bool same_shares(const struct fit_counts *counts, uint32_t x, uint32_t y)
{
    if (!counts->shares_from)
        return true;
    uint32_t n = counts->shares_from[x + 1] - counts->shares_from[x];

    if (n != counts->shares_from[y + 1] - counts->shares_from[y])
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct fit_share *mine = &counts->shares[counts->shares_from[x] + i];
        const struct fit_share *theirs = &counts->shares[counts->shares_from[y] + i];

        if (mine->counter != theirs->counter || mine->takes != theirs->takes)
            return false;
    }
    return true;
}

/* All that layout_check(), quantities.c and live.c read of a unit. */
bool layout_units_are_alike(const struct layout *l, uint32_t x, uint32_t y)
{
    const struct fit *fit = &l->rules->fit;
    uint32_t vm = l->unit_first[x];
    uint32_t other = l->unit_first[y];

    for (int r = 0; r < RES_COUNT; r++)
        if (l->unit_demand[r][x] != l->unit_demand[r][y] || l->unit_reserved[r][x] != l->unit_reserved[r][y])
            return false;
    if (l->unit_mem[x] != l->unit_mem[y] || l->unit_phys[x] != l->unit_phys[y] ||
        (fit->class_of && fit->class_of[vm] != fit->class_of[other]) ||
        l->snap->vms[vm].is.kind != l->snap->vms[other].is.kind || !same_groups(l->rules, vm, other) ||
        !same_shares(&fit->counts, vm, other))
        return false;
    const uint64_t *mine = l->unit_allowed[x];
    const uint64_t *theirs = l->unit_allowed[y];

    return mine == theirs || (mine && theirs && memcmp(mine, theirs, l->rules->words * sizeof *mine) == 0);
}

/* ---- rules in the state as it is ---- */

uint32_t layout_rule_violations(const struct layout *l, const struct rule *rule, uint32_t *there)
{
    uint32_t pairs = 0;
    uint32_t places = 0;

    for (uint32_t i = 0; i < rule->vms.n; i++) {
        uint32_t slot = layout_slot_of(l, rule->vms.items[i]);
        if (slot == IX_NONE)
            continue;
        places += there[slot] == 0;
        pairs += there[slot]++;
    }
    for (uint32_t i = 0; i < rule->vms.n; i++) {
        uint32_t slot = layout_slot_of(l, rule->vms.items[i]);
        if (slot != IX_NONE)
            there[slot] = 0;
    }
    return rule->is.kind == RULE_VM_ANTI_AFFINE ? pairs : places > 1;
}

bool layout_breaks_rule(const struct layout *l, const struct rule *rule)
{
    uint32_t *there = arena_array(l->a, uint32_t, (size_t)l->n_slots + 1);

    if (rule->is.kind == RULE_VM_AFFINE || rule->is.kind == RULE_VM_ANTI_AFFINE)
        return layout_rule_violations(l, rule, there) > 0;
    for (uint32_t i = 0; i < rule->vms.n; i++) {
        uint32_t slot = layout_slot_of(l, rule->vms.items[i]);
        if (slot == IX_NONE || slot == l->outside)
            continue;
        if (!rules_lets_run(rule, l->slot_host[slot]))
            return true;
    }
    return false;
}
