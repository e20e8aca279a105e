/* move_score.h: whether a move for balance is allowed and pays, and which of two is better (§3.1.2 - 3.1.4).
 *
 * The climb, its brute-force twin in tests/property, and explain use this one definition. */
#ifndef BALLAST_CORE_MOVE_SCORE_H
#define BALLAST_CORE_MOVE_SCORE_H

#include "core/balance/move_preference.h"
#include "core/costbenefit/migration_cost.h"
#include "core/layout/layout.h"
#include "core/room/spaces.h"

/* A gain below this is rounding: N sums up some hundred terms, each exact to 1e-16. */
#define GAIN_LEAST 1e-12

/* A growth of the shortage below this part of the cluster's capacity is rounding. */
#define MOVE_WORSE_LEAST 1e-12

struct move {
    uint32_t unit; /* IX_NONE: none */
    uint32_t to_slot;
    double
        gain; /* adjusted: reduction of the imbalance, with the weights held, less what a lower score costs */
};

struct move_score {
    const struct layout *l;
    const struct migration_cost *costs;
    double weight[RES_COUNT];
    double imbalance;  /* of the present state, with these weights */
    int64_t level;     /* of the moves that are searched now: its target and its ratio of benefit to cost */
    double goodness;   /* the minimum goodness: the least gain that is worth a migration */
    double goodness0;  /* the minimum goodness before it is halved */
    uint32_t vms_left; /* VMs that the plan may still move for balance */
    double slowest; /* for destination_index_best(): at this copy rate or a lower one the unit cannot pay; 0:
                       unknown */
    const struct move_preference *preference; /* NULL: no pipeline scores or buckets moves */
    struct spaces_guard *guard;               /* NULL: no space is kept */
    struct plan_stats *stats;
};

/* The gain of moving an average VM away from an average load: the minimum goodness, and what a drop of the
 * score is measured with. */
double move_score_average_gain(const struct layout *l);

/* Sets the weights and the imbalance to those of the layout. */
void move_score_refresh(struct move_score *score, const struct layout *l, struct migration_cost *costs);

/* Sets the level, 2 ... 5, whose moves are searched: the ratio of benefit to cost, and the minimum goodness
 * before it is halved (0 where policy.min_goodness is off). */
void move_score_set_level(struct move_score *score, const struct layout *l, struct migration_cost *costs,
                          int64_t level);

/* Halves the minimum goodness if no move gains enough and the imbalance is far above the target (§3.1.3), or
 * within it. False: the lowest value is reached. */
bool move_score_lower_goodness(struct move_score *score);

/* The gain of a move, as it bounds the adjusted one. Call move_trial_begin() once per unit. */
static inline double move_score_gain(const struct move_score *score, const struct move_trial *t,
                                     uint32_t slot)
{
    return score->imbalance - move_trial_at(score->l, t, slot);
}

/* The adjusted gain of a move that gains this (move_preference.h): what moves are compared by. */
static inline double move_score_adjusted(const struct move_score *score, uint32_t unit, uint32_t slot,
                                         double gain)
{
    return score->preference ? gain - move_preference_cost(score->preference, unit, slot) : gain;
}

/* The checks after the gain is known (not the adjusted one), in the order of names.h: allowed, gains enough,
 * pays. Counts rejections in the statistics. */
enum check move_score_check(const struct move_score *score, uint32_t unit, uint32_t slot, double gain);

/* Whether a move with this gain gains enough for the lower score of its destination. */
bool move_score_is_worth_its_score(const struct move_score *score, uint32_t unit, uint32_t slot, double gain);

/* The same with the cheap checks first: where several checks fail, it may return another of them. */
enum check move_score_check_cheaply(const struct move_score *score, uint32_t unit, uint32_t slot,
                                    double gain);

/* How long rejections of better moves last, from harmless to uncertain. */
enum rejection {
    REJECTION_NONE,    /* no move was rejected */
    REJECTION_LASTS,   /* while the destination only receives VMs */
    REJECTION_MAY_END, /* any change of the destination may end them */
};

/* REJECTION_LASTS: what the check compares on the destination only grows when VMs arrive, or is the same in
 * the whole pass. */
enum rejection move_score_rejection(const struct move_score *score, enum check check);

static inline enum rejection rejection_worse(enum rejection x, enum rejection y)
{
    return x > y ? x : y;
}

/* More gain; then the cheaper migration (less CPU at the fastest rate, or less time if hosts copy at
 * different rates), the lower VM, the lower host. */
bool move_score_is_better(const struct move_score *score, const struct move *x, const struct move *than);

#endif
