/* Optional moves: runs the climb (balance/) level by level, and gives each move its reason and priority. */
#include "core/plan/plan.h"

#include "core/plan/correct.h"

/* The resource whose deviation the move reduces more. */
static enum reason balance_reason(const struct pass *p, const struct move *m)
{
    const struct layout *l = &p->layout;
    double fall[RES_COUNT];
    struct move_trial t;

    move_trial_begin(l, p->climb.score.weight, m->unit, &t);
    for (int r = 0; r < RES_COUNT; r++) {
        struct move_trial one = t;
        one.weight[!r] = 0;
        fall[r] = t.weight[r] * layout_load_stddev(l, (enum resource)r) - move_trial_at(l, &one, m->to_slot);
    }
    return fall[RES_MEM] > fall[RES_CPU] ? REASON_BALANCE_MEM : REASON_BALANCE_CPU;
}

/* Whether this level has nothing to mend. */
static bool is_balanced(const struct layout *l, int64_t level)
{
    return layout_imbalance(l) <= layout_target(l->n_on, level) && !layout_has_outlier(l, level) &&
           !(l->policy->cost_benefit && layout_lacks_headroom(l)); /* it is part of the benefit */
}

/* Makes the moves of one level, at most *left. False: the pass stops here. */
static bool climb_level(struct pass *p, int64_t level, uint32_t *left)
{
    struct climb *c = &p->climb;

    climb_set_level(c, level);
    for (;;) {
        bool balanced = is_balanced(&p->layout, level);
        p->end = balanced ? CHECK_TARGET_REACHED : *left == 0 ? CHECK_MOVES_MAX : CHECK_NONE;
        if (p->end != CHECK_NONE)
            return true;
        c->score.vms_left = *left;
        struct move m = climb_step(c);
        if (m.unit == IX_NONE) {
            if (move_score_lower_goodness(&c->score))
                continue;
            return true;
        }
        uint32_t members = p->layout.unit_from[m.unit + 1] - p->layout.unit_from[m.unit];
        if (!plan_move(p, m.unit, m.to_slot, balance_reason(p, &m), IX_NONE, (unsigned)level))
            return false;
        *left -= *left == UINT32_MAX ? 0 : members;
    }
}

/* One level after the other, so that a level's moves are the first ones of the next level's. A move's
 * priority is the level that makes it. */
void plan_balance(struct pass *p)
{
    uint64_t most = plan_moves_left(p);
    uint32_t left = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;

    p->end = CHECK_MANDATORY_ONLY;
    if (!p->policy.optional_moves)
        return;
    for (int64_t level = LAYOUT_LEVEL_FIRST; level <= p->policy.migration_threshold; level++)
        if (!climb_level(p, level, &left))
            return;
}

void plan_review(struct pass *p)
{
    correct_failover_review(p);
    climb_count_rejected(&p->climb);
}
