/* off_vms.c: where VMs that are off go before their host goes to standby.
 *
 * A VM whose definition is on a host that sleeps cannot be started. Another registration copies nothing and
 * takes no capacity: it asks for a host that could run the VM, not for room there now. */
#include "core/plan/plan.h"

/* It is being started, or its last move failed. That is not tried again as long as it is remembered: a
 * standby waits for it once. */
static bool is_kept(const struct snapshot *s, uint32_t vm)
{
    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i].vm == vm)
            return true;
    for (uint32_t i = 0; i < s->n_avoid; i++)
        if (s->avoid[i].vm == vm && !s->avoid[i].is_rejection && s->time < s->avoid[i].until)
            return true;
    return false;
}

/* A VM whose moves a person wants to decide stays: the standby is not to wait for an answer. */
static bool may_leave(const struct snapshot *s, uint32_t vm)
{
    const struct vm_facts *v = &s->vms[vm].is;

    return v->state == VM_OFF && v->kind == VM_NORMAL && !v->immovable &&
           v->automation != AUTOMATION_DISABLED && v->automation != AUTOMATION_MANUAL && !is_kept(s, vm) &&
           !layout_find_rejection(s, vm, REASON_OFF_VM);
}

uint32_t plan_off_vm_host(const struct pass *p, uint32_t vm, const double *given_mb)
{
    const struct layout *l = &p->layout;
    const uint64_t *must = p->rules.must[vm];
    double most = 0;
    uint32_t best = IX_NONE;

    for (uint32_t slot = 0; slot < l->n_on && may_leave(p->snap, vm); slot++) {
        uint32_t h = l->slot_host[slot];
        double left = l->mem_limit[slot] - l->mem_taken[slot] - given_mb[h];
        if (l->closing[slot] || layout_is_distrusted(l, slot) || (must && !bitmap_has(must, h)) ||
            p->snap->vms[vm].is.mem_mb > l->mem_limit[slot] || layout_find_avoid(p->snap, vm, h))
            continue;
        if (best == IX_NONE || left > most) {
            best = h;
            most = left;
        }
    }
    return best;
}
