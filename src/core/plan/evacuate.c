/* Evacuates hosts that enter maintenance or standby, and failover hosts as far as the others keep headroom:
 * the heaviest VM first, each to the allowed host with the lowest imbalance after the move. */
#include "core/plan/correct.h"

#include "base/order.h"

#include <stdlib.h>

struct weighed_unit {
    struct sized vm; /* its first VM, with the weight of the unit */
    uint32_t unit;
};

/* A sorted copy of the slot's units, because moves change the slot's list. */
static struct weighed_unit *sorted_units(const struct pass *p, uint32_t slot, uint32_t *ret_n)
{
    const struct layout *l = &p->layout;
    struct weighed_unit *units = arena_array(p->a, struct weighed_unit, l->list[slot].n);

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        double weight = 0;
        for (int r = 0; r < RES_COUNT; r++)
            weight += l->unit_demand[r][u] * l->inverse[r][slot];
        units[i] = (struct weighed_unit){.vm = {weight, l->unit_first[u]}, .unit = u};
    }
    *ret_n = l->list[slot].n;
    qsort(units, *ret_n, sizeof units[0], order_largest);
    return units;
}

/* Adds a fault for every VM of the unit. A VM that only another member of the unit holds gets that as its
 * finding. */
static void cannot_evacuate(struct pass *p, uint32_t unit, uint32_t host, struct obstacle why)
{
    const struct layout *l = &p->layout;
    bool held = why.slot == IX_NONE && why.check != CHECK_HOST_NOT_ON;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        struct obstacle mine = why;
        if (held && layout_vm_check(l, vm) != why.check)
            mine.check = CHECK_UNIT_HELD;
        plan_fault(p, FAULT_CANNOT_EVACUATE, vm, host, IX_NONE,
                   (struct finding){.code = FIND_CANNOT_LEAVE,
                                    .subjects = {{SUBJECT_VM, vm}, {SUBJECT_HOST, host}},
                                    .because = obstacle_finding(p, mine)});
    }
}

static void waits_for_host(struct pass *p, uint32_t unit, uint32_t host, uint32_t coming)
{
    uint32_t vm = p->layout.unit_first[unit];

    plan_fault(
        p, FAULT_CANNOT_EVACUATE, vm, host, IX_NONE,
        (struct finding){.code = FIND_CANNOT_LEAVE_YET,
                         .subjects = {{SUBJECT_VM, vm}, {SUBJECT_HOST, host}, {SUBJECT_OTHER_HOST, coming}}});
}

/* One fault for all VMs that stay on a failover host because the others would lack headroom. */
static void stay_on_failover_host(struct pass *p, uint32_t host, uint32_t vms, struct obstacle why)
{
    if (vms > 0)
        plan_fault(p, FAULT_SPARE_MISSING, IX_NONE, host, IX_NONE,
                   (struct finding){.code = FIND_FAILOVER_HOST_BUSY,
                                    .subjects = {{SUBJECT_HOST, host}},
                                    .figures = {{FIGURE_VMS, vms}},
                                    .because = obstacle_finding(p, why)});
}

/* For maintenance, which a person asked for: the unit takes failover capacity, as the last resort, or where
 * it cannot be kept anyway. All failover slots are then found anew; a fault counts the VMs that have none. */
static enum outcome take_failover_capacity(struct pass *p, uint32_t unit, struct cause cause,
                                           struct obstacle *ret_why, uint32_t *ret_slot)
{
    struct failover_capacity *s = &p->layout.failover;

    s->yields = true;
    enum outcome outcome = correct_bring_out(p, unit, cause, ret_why, ret_slot);
    s->yields = p->stopped; /* the other destinations are judged in the same way */
    return outcome;
}

static bool evacuate(struct pass *p, uint32_t slot, enum reason reason)
{
    struct layout *l = &p->layout;
    uint32_t n;
    uint32_t stay = 0;
    struct obstacle first = {0}; /* of those that stay */
    bool may_take = reason == REASON_MAINTENANCE && l->failover.active;
    struct weighed_unit *units = sorted_units(p, slot, &n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = units[i].unit;
        struct obstacle why = {.check = l->unit_held[u], .unit = u, .slot = IX_NONE};
        /* the hypervisor powers an agent off after the other VMs have left; a migrating VM is already leaving
         */
        if (layout_is_agent(l, u) || why.check == CHECK_VM_MIGRATING)
            continue;
        if (!correct_can_move(l, u)) {
            cannot_evacuate(p, u, l->slot_host[slot], why);
            continue;
        }
        struct cause cause = {.reason = reason, .rule = IX_NONE, .priority = PRIORITY_MANDATORY};
        uint32_t waits_for;
        l->keeps_headroom = reason == REASON_SPARE_CAPACITY;
        enum outcome outcome = may_take && p->gives_up_failover
                                   ? take_failover_capacity(p, u, cause, &why, &waits_for)
                                   : correct_bring_out(p, u, cause, &why, &waits_for);
        if (outcome == OUTCOME_STUCK && may_take && p->may_make_room)
            outcome = take_failover_capacity(p, u, cause, &why, &waits_for);
        l->keeps_headroom = false;
        if (outcome == OUTCOME_STUCK && why.check == CHECK_HOST_LOAD) {
            first = stay == 0 ? why : first;
            stay += l->unit_from[u + 1] - l->unit_from[u];
        } else if (outcome == OUTCOME_STUCK)
            cannot_evacuate(p, u, l->slot_host[slot], why);
        else if (outcome == OUTCOME_WAITS)
            waits_for_host(p, u, l->slot_host[slot], l->slot_host[waits_for]);
        else if (outcome == OUTCOME_STOPPED)
            return false;
    }
    stay_on_failover_host(p, l->slot_host[slot], stay, first);
    return true;
}

bool evacuate_hosts(struct pass *p)
{
    for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++) {
        const struct host *h = &p->snap->hosts[p->layout.slot_host[i]];
        enum host_state state = h->is.state;
        if (state == HOST_ON && h->failover && !evacuate(p, i, REASON_SPARE_CAPACITY))
            return false;
        if (state == HOST_ENTERING_MAINTENANCE && !evacuate(p, i, REASON_MAINTENANCE))
            return false;
        if (state == HOST_ENTERING_STANDBY && !evacuate(p, i, REASON_STANDBY))
            return false;
    }
    return true;
}
