/* judge.h: whether a balancing move is good, and which of two is better (§3.1.2 - 3.1.4).
 *
 * One definition, used by the climb, by its brute-force twin in tests/property and by `ballast explain`.
 */
#ifndef BALLAST_CORE_JUDGE_H
#define BALLAST_CORE_JUDGE_H

#include "core/costbenefit/costbenefit.h"
#include "core/layout/layout.h"

/* A gain below this is rounding, not gain: sums of some hundred N, each good to 1e-16. */
#define GAIN_LEAST 1e-12

struct move {
    uint32_t unit; /* IX_NONE: none */
    uint32_t to_slot;
    double gain; /* by how much the imbalance falls, with the weights held */
};

struct judge {
    const struct layout *l;
    const struct forecast *f;
    double weight[RES_COUNT];
    double imbalance;  /* now, with these weights */
    double goodness;   /* the least gain that is worth a migration */
    uint32_t vms_left; /* how many VMs the plan may still move for balance */
    double slowest;    /* targets_best(): at this rate or a lower one the unit cannot pay; 0: not known */
    struct plan_stats *stats;
};

/* Sets weights and imbalance to the layout's present state. */
void judge_refresh(struct judge *j, const struct layout *l, struct forecast *f);

/* The gain of a move: trial_begin() once for a unit, then for each slot. */
static inline double judge_gain(const struct judge *j, const struct trial *t, uint32_t slot)
{
    return j->imbalance - trial_at(j->l, t, slot);
}

/* Everything that comes after the gain is known, in the order of names.h: may it go there, does it gain
 * enough, does it pay. Counts what it rejects. */
enum check judge_move(const struct judge *j, uint32_t unit, uint32_t slot, double gain);

/* More gain; then the cheaper migration (less memory to copy; where hosts copy at different rates, less
 * time), the lower VM, the lower host. */
bool judge_better(const struct judge *j, const struct move *x, const struct move *than);

#endif
