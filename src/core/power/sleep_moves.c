/* Lists and makes the moves of the chosen power-offs (sleep.c). */
#include "core/power/power.h"

struct planned {
    uint32_t unit, to;
    uint32_t room_for; /* the unit that the move makes room for; IX_NONE */
};

/* The unit, or the unit of a host that goes to standby for which it makes room in the end. */
static uint32_t cause_of(const struct power *w, uint32_t unit)
{
    while (!w->l->asleep[w->home[unit]] && w->room_for[unit] != IX_NONE)
        unit = w->room_for[unit];
    return unit;
}

/* Whether the unit's move is part of the power-off of the slot; IX_NONE: relief of hosts that stay on. */
static bool belongs_to(const struct power *w, uint32_t unit, uint32_t slot)
{
    uint32_t home = w->home[cause_of(w, unit)];

    return slot == IX_NONE ? !w->l->asleep[home] : home == slot;
}

/* The final destination of each unit that moves for the power-off of this host, or for the relief of hosts
 * that stay on (IX_NONE): a VM that moved twice in the what-if moves once. Only hosts that stay on receive
 * VMs. Those that leave such a host come first, so what fits at the end fits at every step; except where a
 * host needs room that is made for a later power-off, which the rehearsal finds. */
static struct planned *list_moves(const struct power *w, uint32_t slot, uint32_t *ret_n)
{
    struct planned *list = arena_array(w->p->a, struct planned, w->n_steps);
    uint32_t n = 0;

    for (int leaves_asleep = 0; leaves_asleep < 2; leaves_asleep++)
        for (size_t i = 0; i < w->n_steps; i++) {
            uint32_t u = w->steps[i].unit;
            bool asleep = w->l->asleep[w->home[u]];
            if (!w->steps[i].moved_before && w->l->unit_slot[u] != w->home[u] &&
                asleep == (leaves_asleep == 1) && belongs_to(w, u, slot))
                list[n++] = (struct planned){
                    .unit = u, .to = w->l->unit_slot[u], .room_for = asleep ? IX_NONE : w->room_for[u]};
        }
    *ret_n = n;
    return list;
}

struct planned_moves sleep_moves_list(const struct power *w)
{
    struct planned_moves all = {.n_groups = w->n_asleep + 1};

    all.of = arena_array(w->p->a, struct planned *, all.n_groups);
    all.n = arena_array(w->p->a, uint32_t, all.n_groups);
    for (uint32_t i = 0; i < all.n_groups; i++)
        all.of[i] = list_moves(w, i == 0 ? IX_NONE : w->asleep[i - 1], &all.n[i]);
    return all;
}

void sleep_moves_record(struct power *w, uint32_t slot, uint32_t move_group, struct finding found)
{
    const struct power_verdict *v = &w->verdicts[slot];
    struct decision d = {.action = ACTION_POWER_OFF,
                         .unit = IX_NONE,
                         .from_slot = slot,
                         .to_slot = slot,
                         .rule = IX_NONE,
                         .for_vm = IX_NONE,
                         .move_group = move_group,
                         .reason = REASON_CONSOLIDATE,
                         .priority = PRIORITY_SLEEP,
                         .found = finding_keep(w->p->a, found)};

    d.worth.duration_s = (double)w->l->policy->dpm.standby_s;
    for (int r = 0; r < RES_COUNT; r++) {
        d.worth.cost[r] = v->worth.cost[r];
        d.worth.benefit[r] = v->worth.benefit[r];
    }
    plan_record(w->p, &d);
}

/* Each moment of the plan needs all failover slots. A later power-off may make the room that an earlier one
 * uses, and a VM that moves directly to its last host may meet another order of arrivals there, of which
 * limits of single VMs depend. */
enum power_check sleep_moves_stand(struct power *w, const struct planned_moves *moves)
{
    struct layout *l = w->l;
    enum check check = sleep_failover_slots(w) ? CHECK_NONE : CHECK_SPARE_CAPACITY;
    struct failover_capacity found = l->failover;

    failover_undo_begin(&l->failover);
    for (uint32_t i = 0; i < moves->n_groups && check == CHECK_NONE; i++)
        for (uint32_t k = 0; k < moves->n[i] && check == CHECK_NONE; k++) {
            const struct planned *m = &moves->of[i][k];
            check = layout_check(l, m->unit, m->to);
            if (check == CHECK_NONE)
                what_if_move(w, m->unit, m->to);
        }
    what_if_undo(w, 0);
    failover_undo(&l->failover);
    l->failover = check == CHECK_NONE ? found : w->failover0;
    if (check == CHECK_NONE)
        return POWER_FINE;
    return check == CHECK_SPARE_CAPACITY ? POWER_SPARE : POWER_ORDER;
}

enum power_check sleep_moves_rehearse(struct power *w)
{
    size_t n = w->n_steps;
    const struct failover_capacity slots = w->l->failover;
    const struct planned_moves moves = sleep_moves_list(w);
    struct planned *steps = arena_array(w->p->a, struct planned, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t u = w->steps[i].unit;
        steps[i] = (struct planned){.unit = u, .to = w->steps[i].to, .room_for = w->room_for[u]};
    }
    sleep_take_back(w);
    w->l->failover.a = slots.a;
    enum power_check check = sleep_moves_stand(w, &moves);
    w->l->failover.active = false; /* the slots are those from before, not found again */
    for (size_t i = 0; i < n; i++) {
        what_if_move(w, steps[i].unit, steps[i].to);
        w->room_for[steps[i].unit] = steps[i].room_for;
    }
    w->l->failover = slots;
    return check;
}

static bool make_moves(struct pass *p, const struct planned *moves, uint32_t n, enum reason reason)
{
    for (uint32_t k = 0; k < n; k++) {
        bool room = moves[k].room_for != IX_NONE;
        p->for_vm = room ? p->layout.unit_first[moves[k].room_for] : IX_NONE;
        if (!plan_move(p, moves[k].unit, moves[k].to, room ? REASON_PREREQUISITE : reason, IX_NONE,
                       PRIORITY_SLEEP))
            return false;
    }
    p->for_vm = IX_NONE;
    return true;
}

void sleep_moves_make(struct power *w, const struct planned_moves *moves)
{
    struct pass *p = w->p;

    if (!make_moves(p, moves->of[0], moves->n[0], REASON_HIGH_UTILIZATION))
        return;
    for (uint32_t i = 0; i < w->n_asleep; i++) {
        uint32_t n = moves->n[i + 1];
        uint32_t move_group = n > 0 ? ++p->n_move_groups : 0;
        p->move_group = move_group;
        if (!make_moves(p, moves->of[i + 1], n, REASON_CONSOLIDATE))
            return;
        p->move_group = 0;
        sleep_moves_record(w, w->asleep[i], move_group,
                           power_finding_sleep(w, w->asleep[i], &w->verdicts[w->asleep[i]]));
    }
}
