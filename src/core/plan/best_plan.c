/* Compares the moves for balance with the bound of any plan (balance/plan_bound.h). */
#include "core/plan/plan.h"

/* Two bounds that differ by less count as equal. */
#define RAISED_LEAST 5e-5

void plan_bound_start(struct pass *p)
{
    if (!p->policy.bound || p->watched_vm != IX_NONE)
        return;
    p->bound = arena_new(p->a, struct plan_bound);
    p->bound_ruled = arena_new(p->a, struct plan_bound);
    plan_bound_begin(p->bound, &p->layout, p->entitlement, false, p->a);
    plan_bound_begin(p->bound_ruled, &p->layout, p->entitlement, true, p->a);
}

static uint32_t moved_from(const struct pass *p, size_t first)
{
    uint32_t vms = 0;

    for (size_t i = first; i < p->n_decisions; i++) {
        uint32_t u = p->decisions[i].unit;
        vms += u == IX_NONE ? 0 : p->layout.unit_from[u + 1] - p->layout.unit_from[u];
    }
    return vms;
}

static const struct finding *find_bound(const struct pass *p, const struct plan_bound_facts *b)
{
    struct finding f = {.code = FIND_BOUND,
                        .figures = {{FIGURE_MOVES, b->vms},
                                    {FIGURE_IMBALANCE, b->imbalance},
                                    {FIGURE_IMBALANCE_LEAST, b->least}}};

    if (b->least_ruled > b->least + RAISED_LEAST)
        finding_figure(&f, FIGURE_IMBALANCE_LEAST_RULED, b->least_ruled);
    if (b->reaches)
        finding_figure(&f, FIGURE_MOVES_LEAST, b->vms_least);
    return finding_keep(p->a, f);
}

void plan_bound_tell(struct pass *p, size_t first)
{
    const struct layout *l = &p->layout;
    uint32_t moved = moved_from(p, first);
    uint64_t left = plan_moves_left(p);
    double weight[RES_COUNT];

    if (!p->bound || p->end == CHECK_MANDATORY_ONLY || l->n_on == 0)
        return;
    struct plan_bound_facts *b = arena_new(p->a, struct plan_bound_facts);
    layout_weights(l, weight);
    *b = (struct plan_bound_facts){.vms = moved, .imbalance = layout_imbalance(l)};
    if (p->end != CHECK_TARGET_REACHED)
        b->vms = left < l->snap->n_vms - moved ? moved + (uint32_t)left : l->snap->n_vms;
    b->least = plan_bound_imbalance(p->bound, weight, b->vms);
    b->least_ruled = fmax(b->least, plan_bound_imbalance(p->bound_ruled, weight, b->vms));
    b->reaches = b->imbalance <= layout_plan_target(l);
    if (b->reaches)
        b->vms_least = plan_bound_vms(p->bound, weight, layout_plan_target(l), moved);
    b->found = find_bound(p, b);
    p->stats.bound = b;
}
