/* Optional moves: decides whether the climb (balance/) may go on, and the reason and priority of each move.
 */
#include "core/plan/plan.h"

#include "core/plan/correct.h"

/* 6 - ⌈I / (0.1 · √(2 / n))⌉, within 2 ... 5: a level acts on all moves that it needs to reach its own
 * target. A move against an outlier, below the target, gets a less urgent priority and is made all the same.
 */
static unsigned priority_at(const struct layout *l, double imbalance)
{
    double unit = layout_target(l->n_on, 4);
    double priority = unit > 0 ? 6 - ceil(imbalance / unit) : 5;

    return priority < 2 ? 2 : priority > 5 ? 5 : (unsigned)priority;
}

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

static bool is_balanced(const struct pass *p, double imbalance)
{
    double target = layout_target(p->layout.n_on, p->policy.migration_threshold);

    return imbalance <= target && !layout_has_outlier(&p->layout, p->policy.migration_threshold);
}

void plan_balance(struct pass *p)
{
    uint64_t most = plan_moves_left(p);
    uint32_t left = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;

    p->end = CHECK_MANDATORY_ONLY;
    if (p->policy.migration_threshold == 1 || !p->policy.optional_moves)
        return;
    for (;;) {
        double imbalance = layout_imbalance(&p->layout);
        bool balanced = is_balanced(p, imbalance);
        p->end = balanced ? CHECK_TARGET_REACHED : left == 0 ? CHECK_MOVES_MAX : CHECK_NONE;
        if (p->end != CHECK_NONE)
            return;
        p->climb.score.vms_left = left;
        struct move m = climb_step(&p->climb);
        if (m.unit == IX_NONE) {
            if (move_score_lower_goodness(&p->climb.score))
                continue;
            return;
        }
        uint32_t members = p->layout.unit_from[m.unit + 1] - p->layout.unit_from[m.unit];
        if (!plan_move(p, m.unit, m.to_slot, balance_reason(p, &m), IX_NONE,
                       priority_at(&p->layout, imbalance)))
            return;
        left -= left == UINT32_MAX ? 0 : members;
    }
}

void plan_review(struct pass *p)
{
    correct_failover_review(p);
    climb_count_rejected(&p->climb);
}
