/* Records decisions and faults for all steps of a pass. */
#include "core/plan/pass_state.h"

void plan_fault(struct pass *p, enum fault_code code, uint32_t vm, uint32_t host, uint32_t rule,
                struct finding found)
{
    p->faults = arena_grow(p->a, p->faults, p->n_faults, &p->cap_faults, sizeof p->faults[0]);
    p->faults[p->n_faults++] = (struct fault){
        .code = code, .vm = vm, .host = host, .rule = rule, .found = finding_keep(p->a, found)};
}

static bool is_watched(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;

    return p->watched_vm != IX_NONE && l->vm_unit[p->watched_vm] == unit;
}

void plan_record(struct pass *p, const struct decision *d)
{
    p->decisions = arena_grow(p->a, p->decisions, p->n_decisions, &p->cap_decisions, sizeof p->decisions[0]);
    p->decisions[p->n_decisions++] = *d;
}

bool plan_move(struct pass *p, uint32_t unit, uint32_t to_slot, enum reason reason, uint32_t rule,
               unsigned priority)
{
    struct layout *l = &p->layout;
    uint32_t from = l->unit_slot[unit];
    struct decision d = {.action = from == l->outside ? ACTION_PLACE : ACTION_MIGRATE,
                         .unit = unit,
                         .from_slot = from,
                         .to_slot = to_slot,
                         .rule = rule,
                         .for_vm = p->for_vm,
                         .move_group = p->move_group != 0 ? p->move_group : p->slot_move_group[to_slot],
                         .reason = reason,
                         .priority = priority,
                         .because = p->because,
                         .proposed = p->proposing,
                         .stands = p->stands,
                         .imbalance_before = layout_imbalance(l)};

    for (int r = 0; r < RES_COUNT; r++) {
        d.load_from[r] = l->norm[r][d.from_slot];
        d.load_to[r] = l->norm[r][to_slot];
    }
    if (d.action == ACTION_MIGRATE)
        migration_cost_worth(&p->migration_cost, unit, to_slot, &d.worth);
    else
        d.worth.reclaimed_mb = layout_reclaims(l, unit, to_slot, 0);
    if (is_watched(p, unit)) {
        /* make and undo the move: explain judges the hosts at the moment before */
        struct layout_mark mark;
        layout_try(l, unit, to_slot, &mark);
        d.imbalance_after = layout_imbalance(l);
        layout_undo(l, &mark);
        p->stopped = true;
        p->next = d;
        return false;
    }
    climb_apply(&p->climb, &(struct move){.unit = unit, .to_slot = to_slot});
    d.imbalance_after = layout_imbalance(l);
    if (l->failover.yields) {
        failover_capacity_renew(&l->failover);
        l->failover.yields = true;
    }
    for (int r = 0; r < RES_COUNT; r++)
        d.failover_reserved[r] = l->failover.reserved[r][to_slot];
    plan_record(p, &d);
    return true;
}

uint64_t plan_moves_left(const struct pass *p)
{
    const struct layout *l = &p->layout;
    uint64_t made = 0;

    if (p->policy.moves_max <= 0)
        return UINT64_MAX;
    for (size_t i = 0; i < p->n_decisions; i++) {
        uint32_t u = p->decisions[i].unit;
        made += u == IX_NONE ? 0 : l->unit_from[u + 1] - l->unit_from[u];
    }
    return made < (uint64_t)p->policy.moves_max ? (uint64_t)p->policy.moves_max - made : 0;
}
