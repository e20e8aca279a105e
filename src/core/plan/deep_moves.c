/* Starts the deep search from the moves for balance of a pass, and compares the moves of two passes. */
#include "core/plan/plan.h"

/* A smaller difference of imbalance does not count, because it is not shown. */
#define SHOWN 1e-4

bool plan_search_deeper(struct pass *p, uint32_t left)
{
    const struct layout *l = &p->layout;
    const struct deep_goal goal = {
        .vms_max = left, .target = layout_plan_target(l), .level = p->policy.migration_threshold};

    deep_search(&p->climb, &p->exchanges, &goal, p->search_from, p->a, &p->found);
    return false;
}

void plan_moves_for_balance(const struct pass *p, struct proposal *ret)
{
    *ret = (struct proposal){0};
    for (size_t i = p->measure.first; i < p->measure.last; i++) {
        struct proposed is = {.unit = p->decisions[i].unit};
        uint32_t group = p->decisions[i].move_group;
        for (;; i++) {
            const struct decision *d = &p->decisions[i];
            is.unit = d->reason == REASON_EXCHANGE ? is.unit : d->unit;
            is.steps.unit[is.steps.n] = d->unit;
            is.steps.to_slot[is.steps.n++] = d->to_slot;
            if (group == 0 || i + 1 == p->measure.last || p->decisions[i + 1].move_group != group)
                break;
        }
        deep_search_add(ret, &is, p->a);
    }
}

void plan_measure_balance(struct pass *p, size_t first)
{
    const struct layout *l = &p->layout;
    struct balance_measure m = {.known = true,
                                .over = l->over[RES_CPU] + l->over[RES_MEM],
                                .imbalance = layout_imbalance(l),
                                .first = first,
                                .last = p->n_decisions};

    m.above = m.imbalance > layout_plan_target(l);
    m.uneven = p->end != CHECK_TARGET_REACHED;
    for (size_t i = first; i < p->n_decisions; i++) {
        uint32_t u = p->decisions[i].unit;
        m.vms += l->unit_from[u + 1] - l->unit_from[u];
        m.mb += l->unit_backed[u];
        m.stands = m.stands || p->decisions[i].stands;
    }
    m.fall = first < p->n_decisions ? p->decisions[first].imbalance_before - m.imbalance : 0;
    p->measure = m;
}

bool plan_balances_better(const struct pass *p, const struct pass *than)
{
    const struct balance_measure *x = &p->measure;
    const struct balance_measure *y = &than->measure;

    if (y->stands)
        return plan_standing_is_beaten(y, x);
    if (x->over != y->over)
        return x->over < y->over;
    if (x->above != y->above || x->uneven != y->uneven)
        return x->above != y->above ? y->above : y->uneven;
    if (x->uneven && fabs(x->imbalance - y->imbalance) > SHOWN)
        return x->imbalance < y->imbalance;
    if (x->vms != y->vms)
        return x->vms < y->vms;
    return x->mb < y->mb || (x->mb <= y->mb && x->imbalance < y->imbalance);
}
