/* costbenefit.h: whether a migration is worth it (§3.1.4).
 *
 * Cost and benefit are in resource × time: MHz · s and MiB · s. The benefit is the demand that goes unserved
 * without the move and is served with it, on both hosts together, at today's demand, for the stable time.
 * What comes after it is the worst case (the source's VMs at their minimum of the last hour, the
 * destination's and the moved one at their maximum): it can forbid a move, and adds nothing to its benefit
 * (README.md). Demand varies, so what is counted is the expected shortfall; README.md gives the variance that
 * is assumed and where its figures come from.
 *
 * A VM that is on its way is counted where it will be. The forecast keeps sums per slot, so that judging a
 * move is O(1).
 */
#ifndef BALLAST_CORE_COSTBENEFIT_H
#define BALLAST_CORE_COSTBENEFIT_H

#include "core/costbenefit/migration.h"
#include "core/costbenefit/rates.h"
#include "core/layout/layout.h"

/* What is expected of the demand of a unit, or of a slot's units together. */
struct outlook {
    double demand, variance; /* today's */
    double min, max;         /* of the last hour */
};

struct forecast {
    const struct layout *l;
    struct outlook *unit[RES_COUNT], *slot[RES_COUNT];
    double *unit_stable_s;             /* how long it stays as it is */
    double *slot_stable;               /* Σ stable × demand, CPU */
    double *slot_shortfall[RES_COUNT]; /* expected, at today's demand */
    double capacity[RES_COUNT];        /* of the cluster */
    struct rates rates;                /* between the hosts */
    double *least[RES_COUNT];          /* cost of moving each unit off where it is, wherever it goes */
    double *fixed[RES_COUNT];          /* ... and of this, what does not depend on the rate */
    double stable_mean;                /* over the cluster, s */
    double weight[RES_COUNT];
};

struct worth {
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz · s, MiB · s */
    double net; /* benefit - cost, each over the cluster's capacity, weighted like the imbalance; s */
    double worse_of[RES_COUNT]; /* how much more goes unserved in the worst case than it does now: MHz, MiB */
    double worse;               /* the same as net / s; <= 0: no more */
    double duration_s;
};

void forecast_init(struct forecast *f, const struct layout *l, double *const demand[RES_COUNT],
                   struct arena *a);

/* Follows layout_move(). */
void forecast_move(struct forecast *f, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* The weights of the imbalance have changed. */
void forecast_set_weights(struct forecast *f, const double weight[RES_COUNT]);

void forecast_judge(const struct forecast *f, uint32_t unit, uint32_t to_slot, struct worth *ret);

/* The cost alone, and the duration: between any two slots, wherever the unit is. */
void forecast_cost(const struct forecast *f, uint32_t unit, uint32_t from_slot, uint32_t to_slot,
                   struct worth *ret);

/* Whether the move could pay at any destination at all: false only where forecast_judge() would find net <= 0
 * for every one. */
bool forecast_may_pay(const struct forecast *f, uint32_t unit);

/* Where hosts copy at different rates: the rate that a move of the unit must be faster than, to pay at all;
 * NO_LIMIT: it cannot. forecast_judge() finds net <= 0 for every destination that is reached at this rate or
 * a lower one. */
double forecast_rate_needed(const struct forecast *f, uint32_t unit);

/* Seconds that the migration would take, between these slots. */
double forecast_duration(const struct forecast *f, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* As many moves as can end within one interval: every migration takes a place on two hosts. */
int64_t forecast_moves_per_interval(const struct forecast *f);

#endif
