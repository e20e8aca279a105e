/* move_score.h: whether a balancing move is good, and which of two is better (§3.1.2 - 3.1.4).
 *
 * One definition, used by the climb, by its brute-force twin in tests/property and by `ballast explain`.
 */
#ifndef BALLAST_CORE_MOVE_SCORE_H
#define BALLAST_CORE_MOVE_SCORE_H

#include "core/costbenefit/migration_cost.h"
#include "core/layout/layout.h"

/* A gain below this is rounding, not gain: sums of some hundred N, each good to 1e-16. */
#define GAIN_LEAST 1e-12

struct move {
    uint32_t unit; /* IX_NONE: none */
    uint32_t to_slot;
    double gain; /* by how much the imbalance falls, with the weights held */
};

struct move_score {
    const struct layout *l;
    const struct migration_cost *costs;
    double weight[RES_COUNT];
    double imbalance;  /* now, with these weights */
    double goodness;   /* the least gain that is worth a migration */
    uint32_t vms_left; /* how many VMs the plan may still move for balance */
    double
        slowest; /* destination_index_best(): at this rate or a lower one the unit cannot pay; 0: not known */
    struct plan_stats *stats;
};

/* Sets weights and imbalance to the layout's present state. */
void move_score_refresh(struct move_score *score, const struct layout *l, struct migration_cost *costs);

/* The gain of a move: move_trial_begin() once for a unit, then for each slot. */
static inline double move_score_gain(const struct move_score *score, const struct move_trial *t,
                                     uint32_t slot)
{
    return score->imbalance - move_trial_at(score->l, t, slot);
}

/* Everything that comes after the gain is known, in the order of names.h: may it go there, does it gain
 * enough, does it pay. Counts what it rejects. */
enum check move_score_check(const struct move_score *score, uint32_t unit, uint32_t slot, double gain);

/* More gain; then the cheaper migration (less memory to copy; where hosts copy at different rates, less
 * time), the lower VM, the lower host. */
bool move_score_is_better(const struct move_score *score, const struct move *x, const struct move *than);

#endif
