/* Judges a move for balance, and compares two. */
#include "core/balance/move_score.h"

void move_score_refresh(struct move_score *score, const struct layout *l, struct migration_cost *costs)
{
    layout_weights(l, score->weight);
    migration_cost_set_weights(costs, score->weight);
    score->l = l;
    score->costs = costs;
    score->imbalance = score->weight[RES_CPU] * layout_load_stddev(l, RES_CPU) +
                       score->weight[RES_MEM] * layout_load_stddev(l, RES_MEM);
}

static enum check check_worth(const struct move_score *score, uint32_t unit, uint32_t slot)
{
    struct migration_worth w;

    migration_cost_worth(score->costs, unit, slot, &w);
    if (!(w.net > 0))
        return CHECK_COST_BENEFIT;
    return w.worse > 0 ? CHECK_WORST_CASE : CHECK_NONE;
}

enum check move_score_check(const struct move_score *score, uint32_t unit, uint32_t slot, double gain)
{
    enum check check = layout_check(score->l, unit, slot);

    if (check == CHECK_NONE && gain < GAIN_LEAST)
        check = CHECK_NO_GAIN;
    if (check == CHECK_NONE && gain < score->goodness)
        check = CHECK_MIN_GOODNESS;
    if (check == CHECK_NONE && score->l->policy->cost_benefit)
        check = check_worth(score, unit, slot);
    if (check == CHECK_NONE && score->l->unit_from[unit + 1] - score->l->unit_from[unit] > score->vms_left)
        check = CHECK_MOVES_MAX;
    score->stats->evaluated++;
    if (check != CHECK_NONE)
        score->stats->rejected[check]++;
    return check;
}

bool move_score_is_better(const struct move_score *score, const struct move *x, const struct move *than)
{
    const struct layout *l = score->l;

    if (than->unit == IX_NONE)
        return true;
    if (x->gain != than->gain)
        return x->gain > than->gain;
    if (l->unit_backed[x->unit] != l->unit_backed[than->unit])
        return l->unit_backed[x->unit] < l->unit_backed[than->unit];
    if (score->costs->rates.differ) {
        double mine = migration_cost_duration(score->costs, x->unit, l->unit_slot[x->unit], x->to_slot);
        double theirs =
            migration_cost_duration(score->costs, than->unit, l->unit_slot[than->unit], than->to_slot);
        if (mine != theirs)
            return mine < theirs;
    }
    if (x->unit != than->unit)
        return l->unit_first[x->unit] < l->unit_first[than->unit];
    return l->slot_host[x->to_slot] < l->slot_host[than->to_slot];
}
