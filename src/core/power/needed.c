/* Finds the hosts that something open in this pass needs: a fault names them, or a VM looks for a host. A
 * power-off would empty such a host, and the next pass would find the room there and wake it. */
#include "core/power/power.h"

#include "core/plan/correct.h"

#define ROUNDING 1e-6

/* Whether mandatory rules allow the unit on the host. A preferred rule may be left out in the next pass. */
static bool may_run(const struct layout *l, uint32_t unit, uint32_t host)
{
    for (uint32_t m = l->unit_from[unit]; m < l->unit_from[unit + 1]; m++) {
        const uint64_t *must = l->rules->must[l->unit_vms[m]];
        if (must && !bitmap_has(must, host))
            return false;
    }
    return true;
}

/* Whether the unit would fit on the slot if no VM ran there. */
static bool could_run(const struct layout *l, uint32_t unit, uint32_t slot)
{
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];

    for (int r = 0; r < RES_COUNT; r++)
        if (l->unit_reserved[r][unit] > host_room(h, r) + ROUNDING)
            return false;
    return l->unit_mem[unit] <= l->mem_limit[slot] + ROUNDING && may_run(l, unit, l->slot_host[slot]);
}

/* Whether the slot could end the fault by running this VM. A VM that no move may take away needs no host. */
static bool vm_looks_for(const struct layout *l, uint32_t vm, uint32_t slot)
{
    uint32_t u = l->vm_unit[vm];

    return u != IX_NONE && l->unit_slot[u] != slot && correct_can_move(l, u) && could_run(l, u, slot);
}

/* The other VMs that could end a violation: all of an affinity rule, those on the same host of an
 * anti-affinity rule, the other half of a fault-tolerant pair. */
static uint32_t partner_looks_for(const struct layout *l, const struct fault *f, uint32_t slot)
{
    uint32_t peer = l->snap->vms[f->vm].ft_peer;
    uint32_t at = layout_slot_of(l, f->vm);

    if (f->rule == IX_NONE)
        return peer != IX_NONE && layout_slot_of(l, peer) == at && vm_looks_for(l, peer, slot) ? peer
                                                                                               : IX_NONE;
    const struct rule *rule = &l->snap->rules[f->rule];
    if (rule->is.kind != RULE_VM_AFFINE && rule->is.kind != RULE_VM_ANTI_AFFINE)
        return IX_NONE;
    for (uint32_t i = 0; i < rule->vms.n; i++) {
        bool counts = rule->is.kind == RULE_VM_AFFINE || layout_slot_of(l, rule->vms.items[i]) == at;
        if (counts && vm_looks_for(l, rule->vms.items[i], slot))
            return rule->vms.items[i];
    }
    return IX_NONE;
}

/* The VM of a host with excess reservations that could leave it for this slot. */
static uint32_t excess_looks_for(const struct layout *l, uint32_t host, uint32_t slot)
{
    uint32_t from = l->host_slot[host];

    for (uint32_t i = 0; from != IX_NONE && i < l->list[from].n; i++) {
        uint32_t u = l->list[from].items[i];
        bool reserves = l->unit_reserved[RES_CPU][u] > 0 || l->unit_reserved[RES_MEM][u] > 0;
        if (reserves && vm_looks_for(l, l->unit_first[u], slot))
            return l->unit_first[u];
    }
    return IX_NONE;
}

/* The VM of the fault that the slot could run; IX_NONE: none. */
static uint32_t fault_looks_for(const struct layout *l, const struct fault *f, uint32_t slot)
{
    switch (f->code) {
    case FAULT_RULE_VIOLATED:
        if (f->vm == IX_NONE)
            return IX_NONE;
        return vm_looks_for(l, f->vm, slot) ? f->vm : partner_looks_for(l, f, slot);
    case FAULT_CANNOT_EVACUATE:
    case FAULT_CANNOT_PLACE:
        return f->vm != IX_NONE && vm_looks_for(l, f->vm, slot) ? f->vm : IX_NONE;
    case FAULT_OVERCOMMITTED:
        return f->host != IX_NONE ? excess_looks_for(l, f->host, slot) : IX_NONE;
    case FAULT_SPARE_MISSING: /* no host goes to standby while a gap is open (power.c) */
    case FAULT_RULE_CONFLICT: /* no host ends the others */
    case FAULT_HOST_DISCONNECTED:
    case FAULT_QUARANTINE:
    case FAULT_HOST_DISTRUSTED:
    case FAULT_DEMAND_UNKNOWN:
    case FAULT_SAMPLE_BAD:
    case FAULT_SAMPLES_BAD:
    case FAULT_POOL_OVERCOMMITTED:
    case FAULT_RULE_TOO_LARGE:
    case FAULT_PREFERENCE_DROPPED:
    case FAULT_NO_ROOM: /* these two are added after the power-offs */
    case FAULT_OVERLOADED:
    case FAULT_READY_BY:
    case FAULT_OTHER_BALANCER:
    case FAULT_OTHER_POWER:
    case FAULT_LABELS_UNREAD:
    case FAULT_SOURCE:
    case FAULT_POWER_METHOD:
    case FAULT_VSAN:
    case FAULT_SERVES_STORAGE:
    case FAULT_AVOID:
    case fault_code_count:
        break;
    }
    return IX_NONE;
}

const struct fault *needed_by_fault(const struct power *w, uint32_t slot, uint32_t *ret_vm)
{
    for (size_t i = 0; i < w->p->n_faults; i++) {
        const struct fault *f = &w->p->faults[i];
        *ret_vm = IX_NONE;
        if (f->code == FAULT_AVOID ||
            f->code == FAULT_HOST_DISTRUSTED) /* says what was, not what is needed */
            continue;
        if (f->host == w->l->slot_host[slot] || (*ret_vm = fault_looks_for(w->l, f, slot)) != IX_NONE)
            return f;
    }
    return NULL;
}

/* Whether a host that stays on has room for the unit. */
static bool has_room(const struct power *w, uint32_t unit)
{
    for (uint32_t i = 0; i < w->n_alive; i++)
        if (layout_check(w->l, unit, w->alive[i]) == CHECK_NONE)
            return true;
    return false;
}

uint32_t needed_to_start(const struct power *w, uint32_t slot)
{
    const struct layout *l = w->l;

    for (uint32_t i = 0; i < l->list[l->outside].n; i++) {
        uint32_t u = l->list[l->outside].items[i];
        if (!l->in_flight[l->unit_first[u]] && could_run(l, u, slot) && !has_room(w, u))
            return l->unit_first[u];
    }
    return IX_NONE;
}
