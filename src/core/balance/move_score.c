/* Judges a move for balance, and compares two. */
#include "core/balance/move_score.h"

/* The minimum goodness, as a part of the gain of moving an average VM away from an average load (README.md):
 * at first, where the imbalance is within the target (the climb goes on for an outlier or for headroom, and
 * such a move may gain little), and where it is far above the target. */
#define GOODNESS_PART 1.0
#define GOODNESS_PART_WITHIN 0.5
#define GOODNESS_PART_FAR 0.25
/* The imbalance is far above the target from this multiple of it on. */
#define GOODNESS_FAR 1.5

/* How many times its cost a move must gain, by level; 0: it must only do no harm (README.md). */
static const double ratio_of_level[] = {[2] = 4, [3] = 1, [4] = 0.25, [5] = 0};

/* An average VM is 1 / V of the load; one move reduces the imbalance by about that much. */
double move_score_average_gain(const struct layout *l)
{
    double load = 0;

    if (l->n_units == 0 || l->n_on == 0)
        return 0;
    for (int r = 0; r < RES_COUNT; r++)
        load += l->sum[r] / l->n_on / RES_COUNT;
    return load / l->n_units;
}

void move_score_set_level(struct move_score *score, const struct layout *l, struct migration_cost *costs,
                          int64_t level)
{
    score->level = level;
    costs->ratio = ratio_of_level[level];
    score->goodness0 = l->policy->min_goodness ? move_score_average_gain(l) : 0;
    score->goodness = score->goodness0;
}

bool move_score_lower_goodness(struct move_score *score)
{
    double target = layout_target(score->l->policy, score->l->n_on, score->level);
    double part = score->imbalance <= target                  ? GOODNESS_PART_WITHIN
                  : score->imbalance >= GOODNESS_FAR * target ? GOODNESS_PART_FAR
                                                              : GOODNESS_PART;

    if (!(score->goodness > score->goodness0 * part))
        return false;
    score->goodness /= 2;
    return true;
}

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
    if (!migration_cost_pays(score->costs, &w))
        return CHECK_COST_BENEFIT;
    return w.worse > MOVE_WORSE_LEAST ? CHECK_WORST_CASE : CHECK_NONE;
}

/* The same, but what costs less to compute comes first. */
static enum check check_worth_cheaply(const struct move_score *score, uint32_t unit, uint32_t slot)
{
    struct migration_worth w;

    if (migration_cost_worse(score->costs, unit, slot) > MOVE_WORSE_LEAST)
        return CHECK_WORST_CASE;
    migration_cost_benefit(score->costs, unit, slot, &w);
    return migration_cost_pays(score->costs, &w) ? CHECK_NONE : CHECK_COST_BENEFIT;
}

bool move_score_is_worth_its_score(const struct move_score *score, uint32_t unit, uint32_t slot, double gain)
{
    double adjusted = move_score_adjusted(score, unit, slot, gain);

    return adjusted >= GAIN_LEAST && adjusted >= score->goodness;
}

static enum check check_all(const struct move_score *score, uint32_t unit, uint32_t slot, double gain,
                            enum check worth(const struct move_score *, uint32_t, uint32_t))
{
    enum check check = layout_check(score->l, unit, slot);
    const struct move_preference *preference = score->preference;

    if (check == CHECK_NONE && score->guard && spaces_guard_refuses(score->guard, unit, slot))
        check = CHECK_SPACE_KEPT;
    if (check == CHECK_NONE && preference &&
        move_preference_worse_bucket(preference, unit, slot, NULL) != IX_NONE)
        check = CHECK_FIT_BUCKET;
    if (check == CHECK_NONE && gain < GAIN_LEAST)
        check = CHECK_NO_GAIN;
    if (check == CHECK_NONE && gain < score->goodness)
        check = CHECK_MIN_GOODNESS;
    if (check == CHECK_NONE && preference && !move_score_is_worth_its_score(score, unit, slot, gain))
        check = CHECK_FIT_SCORE;
    if (check == CHECK_NONE && score->l->policy->cost_benefit)
        check = worth(score, unit, slot);
    if (check == CHECK_NONE && score->l->unit_from[unit + 1] - score->l->unit_from[unit] > score->vms_left)
        check = CHECK_MOVES_MAX;
    score->stats->evaluated++;
    if (check != CHECK_NONE)
        score->stats->rejected[check]++;
    return check;
}

enum check move_score_check(const struct move_score *score, uint32_t unit, uint32_t slot, double gain)
{
    return check_all(score, unit, slot, gain, check_worth);
}

enum check move_score_check_cheaply(const struct move_score *score, uint32_t unit, uint32_t slot, double gain)
{
    return check_all(score, unit, slot, gain, check_worth_cheaply);
}

enum rejection move_score_rejection(const struct move_score *score, enum check check)
{
    switch ((int)check) { /* all others may end: shortages, for one, are compared with those that there are */
    case CHECK_NONE:
        return REJECTION_NONE;
    case CHECK_FIT_FILTER:
        return score->l->rules->fit.live_from ? REJECTION_MAY_END : REJECTION_LASTS;
    case CHECK_INCOMPATIBLE:
    case CHECK_RULE_VM_HOST:
    case CHECK_RULE_ANTI_AFFINITY:
    case CHECK_FIT_QUANTITY:
    case CHECK_FIT_BUCKET:
    case CHECK_FIT_SCORE:
    case CHECK_RESERVATION_CPU:
    case CHECK_RESERVATION_MEM:
    case CHECK_MEMORY:
    case CHECK_MEMORY_FREE:
    case CHECK_AVOID:
    case CHECK_HOST_DISTRUSTED:
        return REJECTION_LASTS;
    default:
        return REJECTION_MAY_END;
    }
}

bool move_score_is_better(const struct move_score *score, const struct move *x, const struct move *than)
{
    const struct layout *l = score->l;

    if (than->unit == IX_NONE)
        return true;
    if (x->gain != than->gain)
        return x->gain > than->gain;
    if (score->costs->least[x->unit] != score->costs->least[than->unit])
        return score->costs->least[x->unit] < score->costs->least[than->unit];
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
