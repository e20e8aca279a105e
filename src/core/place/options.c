/* Ranks the hosts for a power-on; without one, finds the host that comes closest. */
#include "core/place/options.h"

#include "core/plan/correct.h"
#include "core/plan/prerequisite_moves.h"

#include <stdlib.h>

static int best_first(const void *a, const void *b)
{
    const struct option *x = a;
    const struct option *y = b;

    if (x->joins != y->joins)
        return x->joins ? -1 : 1;
    if (x->imbalance != y->imbalance)
        return x->imbalance < y->imbalance ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

void options_rank(const struct pass *p, uint32_t unit, struct options *ret)
{
    const struct layout *l = &p->layout;
    double weight[RES_COUNT];
    struct move_trial t;

    *ret = (struct options){.items = arena_array(p->a, struct option, l->n_on)};
    layout_weights(l, weight);
    move_trial_begin(l, weight, unit, &t);
    for (uint32_t i = 0; i < l->n_on; i++)
        if (layout_check(l, unit, i) == CHECK_NONE)
            ret->items[ret->n++] = (struct option){
                .slot = i, .joins = layout_has_component(l, i, unit), .imbalance = move_trial_at(l, &t, i)};
    if (ret->n > 0)
        qsort(ret->items, ret->n, sizeof ret->items[0], best_first);
}

/* The largest relative shortage of the unit on the slot. */
static double worst_part(const struct layout *l, uint32_t unit, uint32_t slot)
{
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];
    double worst = 0;

    prerequisite_move_shortage(l, unit, slot, shortage, need);
    for (int k = 0; k < SHORTAGE_COUNT; k++)
        if (need[k] > 0)
            worst = fmax(worst, shortage[k] / need[k]);
    return worst;
}

/* The slot that passes most checks (they have a fixed order), then the smallest shortage. */
static uint32_t closest(const struct pass *p, uint32_t unit, enum check *ret_check)
{
    const struct layout *l = &p->layout;
    uint32_t best = IX_NONE;

    *ret_check = CHECK_NONE;
    for (uint32_t i = 0; i < l->n_on; i++) {
        enum check check = layout_check(l, unit, i);
        bool better = best == IX_NONE || check > *ret_check ||
                      (check == *ret_check && worst_part(l, unit, i) < worst_part(l, unit, best));
        if (!better)
            continue;
        best = i;
        *ret_check = check;
    }
    return best;
}

/* The shortage behind the check; UNKNOWN: the check is not about an amount. */
static double missing_for(const struct pass *p, uint32_t unit, uint32_t slot, enum check check)
{
    double shortage[SHORTAGE_COUNT];
    double need[SHORTAGE_COUNT];

    prerequisite_move_shortage(&p->layout, unit, slot, shortage, need);
    switch ((int)check) { /* all others are not about an amount */
    case CHECK_RESERVATION_CPU:
        return shortage[SHORTAGE_CPU];
    case CHECK_RESERVATION_MEM:
        return shortage[SHORTAGE_MEM];
    case CHECK_MEMORY:
        return shortage[SHORTAGE_ADMITTED];
    case CHECK_MEMORY_FREE:
        return shortage[SHORTAGE_FREE];
    default:
        return UNKNOWN;
    }
}

struct finding options_none(const struct pass *p, uint32_t unit, uint32_t *ret_host)
{
    enum check check;
    uint32_t vm = p->layout.unit_first[unit];
    uint32_t slot = closest(p, unit, &check);

    *ret_host = slot == IX_NONE ? IX_NONE : p->layout.slot_host[slot];
    if (p->rules.held[vm])
        return (struct finding){.code = FIND_RULES_HELD};
    if (slot == IX_NONE)
        return (struct finding){.code = FIND_NO_HOST};
    double missing = missing_for(p, unit, slot, check);
    return (struct finding){.code = isnan(missing) ? FIND_CLOSEST : FIND_CLOSEST_SHORT,
                            .check = check,
                            .resource = check == CHECK_RESERVATION_CPU ? RES_CPU : RES_MEM,
                            .subjects = {{SUBJECT_HOST, *ret_host}},
                            .figures = {{FIGURE_MISSING, missing}},
                            .because = check_finding(p, vm, *ret_host, check, NULL)};
}
