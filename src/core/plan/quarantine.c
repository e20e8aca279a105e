/* Empties hosts in quarantine, and hosts whose failure would not be noticed, as far as no rule is broken and
 * no other host loses its headroom (vSphere's quarantine mode). Such a host receives nothing and does not
 * count as capacity: it has a slot behind those that can run VMs (layout.h). */
#include "core/plan/correct.h"
#include "core/plan/plan.h"

bool quarantine_has(const struct pass *p, uint32_t slot)
{
    const struct host *h = &p->snap->hosts[p->layout.slot_host[slot]];

    return slot >= p->layout.n_on && h->is.state == HOST_ON && !h->failover;
}

uint32_t quarantine_best_target(const struct pass *p, uint32_t unit)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;
    struct move_rank best_rank = {0};
    double weight[RES_COUNT];
    struct move_trial t;

    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < l->n_on; i++) {
        if (layout_check(l, unit, i) != CHECK_NONE || layout_fills_headroom(l, unit, i) ||
            layout_just_left(l, unit, i))
            continue;
        struct move_rank rank =
            move_preference_rank(l, p->climb.score.preference, unit, i,
                                 plan_standing_imbalance(p, unit, i, move_trial_at(l, &t, i)));
        if (best == IX_NONE || move_rank_is_better(rank, best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* A VM that is held from balance waits as well: nothing forces it to leave. */
static bool empty(struct pass *p, uint32_t slot)
{
    const struct layout *l = &p->layout;
    uint32_t n = l->list[slot].n;
    uint32_t *units = arena_array(p->a, uint32_t, n);

    for (uint32_t i = 0; i < n; i++) /* a copy, because moves change the slot's list */
        units[i] = l->list[slot].items[i];
    for (uint32_t i = 0; i < n; i++) {
        enum check held = l->unit_held[units[i]];
        bool may = (held == CHECK_NONE || layout_holds_balance_only(held)) &&
                   !layout_is_rejected(l, units[i], REASON_QUARANTINE);
        uint32_t to = may ? quarantine_best_target(p, units[i]) : IX_NONE;

        if (to != IX_NONE && !plan_move(p, units[i], to, REASON_QUARANTINE, IX_NONE, PRIORITY_PREFERRED))
            return false;
    }
    return true;
}

void quarantine_empty_hosts(struct pass *p)
{
    if (p->stopped || !correct_is_due(p, PRIORITY_PREFERRED))
        return;
    for (uint32_t i = p->layout.n_on; i < p->layout.n_slots; i++)
        if (quarantine_has(p, i) && !empty(p, i))
            return;
}

void quarantine_report(struct pass *p)
{
    const struct layout *l = &p->layout;

    for (uint32_t i = l->n_on; i < l->n_slots; i++) {
        uint32_t vms = 0;

        if (!quarantine_has(p, i))
            continue;
        for (uint32_t k = 0; k < l->list[i].n; k++) {
            uint32_t u = l->list[i].items[k];
            vms += layout_is_agent(l, u) ? 0 : l->unit_from[u + 1] - l->unit_from[u];
        }
        plan_fault(p, FAULT_QUARANTINE, IX_NONE, l->slot_host[i], IX_NONE,
                   (struct finding){.code = FIND_QUARANTINE,
                                    .subjects = {{SUBJECT_HOST, l->slot_host[i]}},
                                    .figures = {{FIGURE_VMS, vms}}});
    }
}
