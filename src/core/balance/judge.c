#include "core/balance/judge.h"

void judge_refresh(struct judge *j, const struct layout *l, struct forecast *f)
{
    layout_weights(l, j->weight);
    forecast_set_weights(f, j->weight);
    j->l = l;
    j->f = f;
    j->imbalance =
        j->weight[RES_CPU] * layout_sigma(l, RES_CPU) + j->weight[RES_MEM] * layout_sigma(l, RES_MEM);
}

static enum check judge_worth(const struct judge *j, uint32_t unit, uint32_t slot)
{
    struct worth w;

    forecast_judge(j->f, unit, slot, &w);
    if (!(w.net > 0))
        return CHECK_COST_BENEFIT;
    return w.worse > 0 ? CHECK_WORST_CASE : CHECK_NONE;
}

enum check judge_move(const struct judge *j, uint32_t unit, uint32_t slot, double gain)
{
    enum check check = layout_check(j->l, unit, slot);

    if (check == CHECK_NONE && gain < GAIN_LEAST)
        check = CHECK_NO_GAIN;
    if (check == CHECK_NONE && gain < j->goodness)
        check = CHECK_MIN_GOODNESS;
    if (check == CHECK_NONE && j->l->policy->cost_benefit)
        check = judge_worth(j, unit, slot);
    if (check == CHECK_NONE && j->l->unit_from[unit + 1] - j->l->unit_from[unit] > j->vms_left)
        check = CHECK_MOVES_MAX;
    j->stats->evaluated++;
    if (check != CHECK_NONE)
        j->stats->rejected[check]++;
    return check;
}

bool judge_better(const struct judge *j, const struct move *x, const struct move *than)
{
    const struct layout *l = j->l;

    if (than->unit == IX_NONE)
        return true;
    if (x->gain != than->gain)
        return x->gain > than->gain;
    if (l->unit_backed[x->unit] != l->unit_backed[than->unit])
        return l->unit_backed[x->unit] < l->unit_backed[than->unit];
    if (j->f->rates.differ) {
        double mine = forecast_duration(j->f, x->unit, l->unit_slot[x->unit], x->to_slot);
        double theirs = forecast_duration(j->f, than->unit, l->unit_slot[than->unit], than->to_slot);
        if (mine != theirs)
            return mine < theirs;
    }
    if (x->unit != than->unit)
        return l->unit_first[x->unit] < l->unit_first[than->unit];
    return l->slot_host[x->to_slot] < l->slot_host[than->to_slot];
}
