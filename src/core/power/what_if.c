/* Makes and undoes the steps of a what-if on the pass's own layout. */
#include "core/power/power.h"

static void find_busy(struct power *w)
{
    const struct layout *l = w->l;

    w->busy = arena_array(w->p->a, bool, (size_t)l->n_slots + 1);
    for (uint32_t i = 0; i < l->snap->n_vms; i++) {
        if (!l->in_flight[i])
            continue;
        if (l->vm_unit[i] != IX_NONE)
            w->busy[l->unit_slot[l->vm_unit[i]]] = true;
        if (l->other_end[i] != IX_NONE)
            w->busy[l->other_end[i]] = true;
        if (l->going_to[i] != IX_NONE)
            w->busy[l->going_to[i]] = true;
    }
}

void what_if_begin(struct power *w, struct pass *p)
{
    struct layout *l = &p->layout;

    *w = (struct power){.p = p, .l = l, .moves_left = plan_moves_left(p), .failover0 = l->failover};
    utilization_init(&w->u, l, p->a);
    w->moved = arena_array(p->a, bool, l->n_units);
    w->home = arena_array(p->a, uint32_t, l->n_units);
    w->room_for = arena_array(p->a, uint32_t, l->n_units);
    for (uint32_t u = 0; u < l->n_units; u++)
        w->room_for[u] = IX_NONE;
    w->alive = arena_array(p->a, uint32_t, l->n_slots);
    w->asleep = arena_array(p->a, uint32_t, l->n_slots);
    w->by_capacity = arena_array(p->a, double, l->n_slots);
    w->verdicts = arena_array(p->a, struct power_verdict, l->n_slots);
    for (uint32_t i = 0; i < l->n_on; i++) {
        if (l->closing[i])
            continue;
        w->alive[w->n_alive++] = i;
        for (int r = 0; r < RES_COUNT; r++)
            w->alive_capacity[r] += host_room(&l->snap->hosts[l->slot_host[i]], r);
    }
    find_busy(w);
    utilization_score(&w->u, &w->scores);
}

void what_if_move(struct power *w, uint32_t unit, uint32_t to)
{
    struct layout *l = w->l;
    uint32_t from = l->unit_slot[unit];
    struct what_if_step s = {.unit = unit,
                             .from = from,
                             .to = to,
                             .moved_before = w->moved[unit],
                             .reclaimed_mb = layout_reclaims(l, unit, to, 0)};

    if (!w->moved[unit])
        w->home[unit] = from;
    w->moved[unit] = true;
    failover_capacity_follow(&l->failover, unit, to);
    layout_try(l, unit, to, &s.layout);
    utilization_move(&w->u, unit, from, to, &s.utilization);
    w->steps = arena_grow(w->p->a, w->steps, w->n_steps, &w->cap_steps, sizeof w->steps[0]);
    w->steps[w->n_steps++] = s;
}

void what_if_undo(struct power *w, size_t n)
{
    while (w->n_steps > n) {
        const struct what_if_step *s = &w->steps[--w->n_steps];
        utilization_undo(&w->u, &s->utilization);
        layout_undo(w->l, &s->layout);
        w->moved[s->unit] = s->moved_before;
        w->room_for[s->unit] = s->moved_before ? w->room_for[s->unit] : IX_NONE;
    }
}

static void add_capacity(struct power *w, uint32_t slot, double by)
{
    for (int r = 0; r < RES_COUNT; r++)
        w->alive_capacity[r] += by * host_room(&w->l->snap->hosts[w->l->slot_host[slot]], r);
}

void what_if_close(struct power *w, uint32_t slot)
{
    uint32_t n = 0;

    w->l->closing[slot] = true;
    w->l->asleep[slot] = true;
    for (uint32_t i = 0; i < w->n_alive; i++)
        if (w->alive[i] != slot)
            w->alive[n++] = w->alive[i];
    w->n_alive = n;
    add_capacity(w, slot, -1);
}

void what_if_reopen(struct power *w, uint32_t slot)
{
    uint32_t at = w->n_alive++;

    w->l->closing[slot] = false;
    w->l->asleep[slot] = false;
    for (; at > 0 && w->alive[at - 1] > slot; at--)
        w->alive[at] = w->alive[at - 1];
    w->alive[at] = slot;
    add_capacity(w, slot, 1);
}
