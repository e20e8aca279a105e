/* Chooses a host in standby and records the decision to wake it. power/wake.c decides about wakes for load.
 */
#include "core/plan/host_wakes.h"

bool host_wake_is_allowed(const struct pass *p, uint32_t slot, enum reason reason)
{
    const struct host *h = &p->snap->hosts[p->layout.slot_host[slot]];

    return h->is.state == HOST_STANDBY && h->is.dpm != AUTOMATION_DISABLED && h->is.wake_failed_at == 0 &&
           !h->failover && !host_is_avoided(h) && !p->coming[slot] &&
           !layout_find_host_rejection(p->snap, p->layout.slot_host[slot], reason);
}

uint32_t host_wake_coming(const struct pass *p)
{
    for (uint32_t i = 0; i < p->layout.n_slots; i++)
        if (p->coming[i] || p->layout.waking[i])
            return i;
    return IX_NONE;
}

unsigned host_wake_uncertainty(const struct pass *p, uint32_t slot)
{
    const struct host_facts *h = &p->snap->hosts[p->layout.slot_host[slot]].is;
    enum automation level = h->dpm == AUTOMATION_INHERIT ? p->policy.dpm.automation : h->dpm;

    return (layout_is_distrusted(&p->layout, slot) ? 8u : 0u) + (h->left_inventory ? 4u : 0u) +
           (level == AUTOMATION_AUTOMATIC ? 0u : 2u) + (h->wake_verified ? 0u : 1u);
}

bool host_wake_comes_first(const struct pass *p, uint32_t slot, uint32_t than)
{
    const struct layout *l = &p->layout;
    double mine = 0;
    double theirs = 0;

    if (than == IX_NONE)
        return true;
    if (l->waking[slot] != l->waking[than])
        return l->waking[slot];
    if (host_wake_uncertainty(p, slot) != host_wake_uncertainty(p, than))
        return host_wake_uncertainty(p, slot) < host_wake_uncertainty(p, than);
    for (int r = 0; r < RES_COUNT; r++) {
        double a = p->snap->hosts[l->slot_host[slot]].capacity[r];
        double b = p->snap->hosts[l->slot_host[than]].capacity[r];
        mine += a / (a + b);
        theirs += b / (a + b);
    }
    return mine > theirs;
}

bool host_wake_makes_room(struct layout *l, uint32_t unit, uint32_t slot)
{
    bool waking = l->waking[slot];

    l->waking[slot] = true;
    bool fits = layout_check(l, unit, slot) == CHECK_NONE;
    l->waking[slot] = waking;
    return fits;
}

uint32_t host_wake_find(struct pass *p, uint32_t unit, enum reason reason)
{
    struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    for (uint32_t i = l->n_on; i < l->n_slots; i++)
        if (host_wake_is_allowed(p, i, reason) && host_wake_comes_first(p, i, best) &&
            host_wake_makes_room(l, unit, i))
            best = i;
    return best;
}

uint32_t host_wake_under_way(const struct pass *p, uint32_t unit)
{
    struct layout l = p->layout; /* a shallow copy: the arrays are shared, so `waking` is restored below */

    for (uint32_t i = l.n_on; i < l.n_slots; i++)
        if (p->coming[i] && host_wake_makes_room(&l, unit, i))
            return i;
    return IX_NONE;
}

void host_wake_record(struct pass *p, uint32_t slot, const struct wake_why *why, uint32_t move_group)
{
    plan_record(p, &(struct decision){.action = ACTION_POWER_ON,
                                      .unit = IX_NONE,
                                      .from_slot = slot,
                                      .to_slot = slot,
                                      .rule = IX_NONE,
                                      .for_vm = why->for_vm,
                                      .reason = why->reason,
                                      .priority = why->priority,
                                      .move_group = move_group,
                                      .imbalance_after = layout_imbalance(&p->layout),
                                      .found = why->found});
}

void host_wake_take(struct pass *p, uint32_t slot, const struct wake_why *why)
{
    p->layout.waking[slot] = true;
    p->slot_move_group[slot] = ++p->n_move_groups;
    host_wake_record(p, slot, why, p->slot_move_group[slot]);
}

void host_wake_for(struct pass *p, uint32_t slot, enum reason reason, uint32_t for_vm)
{
    if (!p->layout.waking[slot])
        host_wake_take(p, slot, &(struct wake_why){reason, for_vm, PRIORITY_MANDATORY, NULL});
}
