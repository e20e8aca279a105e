/* registered.c: hosts that are woken because a waiting VM is registered there.
 *
 * No manager can start a VM, or register it elsewhere, while it cannot reach the host that has its
 * definition. Where that host sleeps, its wake comes first. The VM then starts there if there is room for it:
 * nothing has to be moved. */
#include "core/place/attempt.h"
#include "core/plan/host_wakes.h"

/* The host of the VM's definition, if its manager cannot reach it; IX_NONE: it can. */
static uint32_t unreached_host(const struct attempt *t, uint32_t vm)
{
    uint32_t h = t->seen->vms[vm].host;

    if (h == IX_NONE)
        return IX_NONE;
    enum host_state state = t->seen->hosts[h].is.state;

    return state == HOST_STANDBY || state == HOST_POWERING_ON || state == HOST_DISCONNECTED ? h : IX_NONE;
}

/* The slot that must be woken for the VM; IX_NONE: none must, or none can. */
static uint32_t slot_to_wake(const struct attempt *t, uint32_t vm)
{
    const struct layout *l = &t->p.layout;
    uint32_t h = unreached_host(t, vm);
    uint32_t slot = h == IX_NONE ? IX_NONE : l->host_slot[h];

    if (slot == IX_NONE)
        return IX_NONE;
    return l->waking[slot] || host_wake_is_allowed(&t->p, slot, REASON_PLACEMENT) ? slot : IX_NONE;
}

bool attempt_can_start(const struct attempt *t, uint32_t unit, uint32_t *ret_host, struct finding *ret_why)
{
    const struct layout *l = &t->p.layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        uint32_t h = unreached_host(t, vm);

        if (h == IX_NONE || slot_to_wake(t, vm) != IX_NONE)
            continue;
        bool coming = l->host_slot[h] != IX_NONE && t->p.coming[l->host_slot[h]];
        *ret_host = h;
        *ret_why = (struct finding){.code = coming ? FIND_WAITS_FOR_HOST : FIND_OUT_OF_REACH,
                                    .subjects = {{SUBJECT_HOST, h}, {SUBJECT_OTHER_VM, vm}}};
        return false;
    }
    return true;
}

uint32_t attempt_own_slot(struct attempt *t, uint32_t unit)
{
    struct layout *l = &t->p.layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t slot = slot_to_wake(t, l->unit_vms[i]);

        if (slot != IX_NONE && host_wake_makes_room(l, unit, slot))
            return slot;
    }
    return IX_NONE;
}

uint32_t attempt_find_wake(struct attempt *t, uint32_t unit)
{
    uint32_t own = attempt_own_slot(t, unit);

    return own != IX_NONE ? own : host_wake_find(&t->p, unit, REASON_PLACEMENT);
}

void attempt_wake_own(struct attempt *t, uint32_t unit)
{
    struct pass *p = &t->p;
    const struct layout *l = &p->layout;

    for (uint32_t i = l->unit_from[unit]; i < l->unit_from[unit + 1]; i++) {
        uint32_t vm = l->unit_vms[i];
        uint32_t slot = slot_to_wake(t, vm);

        if (slot == IX_NONE)
            continue;
        const struct finding why = {.code = FIND_WAKE_REGISTERED,
                                    .reason = REASON_PLACEMENT,
                                    .subjects = {{SUBJECT_HOST, l->slot_host[slot]}, {SUBJECT_FOR_VM, vm}}};
        if (!l->waking[slot]) {
            host_wake_take(
                p, slot,
                &(struct wake_why){REASON_PLACEMENT, vm, PRIORITY_MANDATORY, finding_keep(p->a, why)});
            admission_add_host(&p->admission, l->slot_host[slot]);
        }
        if (p->move_group == 0) /* the wake and the power-on only make sense together */
            p->move_group = p->slot_move_group[slot];
    }
}

/* Adds the id to the front of those that the recommendation depends on. */
static void depend_on(struct recommendation *rec, uint32_t id, struct arena *a)
{
    uint32_t *ids = arena_array(a, uint32_t, (size_t)rec->n_depends_on + 1);

    ids[0] = id;
    for (uint32_t i = 0; i < rec->n_depends_on; i++) {
        if (rec->depends_on[i] == id)
            return;
        ids[i + 1] = rec->depends_on[i];
    }
    rec->depends_on = ids;
    rec->n_depends_on++;
}

void attempt_order_wakes(const struct attempt *t, struct plan *plan)
{
    uint32_t *wake_of = arena_array(t->p.a, uint32_t, t->seen->n_hosts);

    for (uint32_t i = 0; i < plan->n_recommendations; i++) {
        struct recommendation *rec = &plan->recommendations[i];
        uint32_t h = rec->action == ACTION_PLACE ? unreached_host(t, rec->vm) : IX_NONE;

        if (rec->action == ACTION_POWER_ON)
            wake_of[rec->host] = rec->id;
        if (h != IX_NONE && wake_of[h] != 0)
            depend_on(rec, wake_of[h], t->p.a);
    }
}
