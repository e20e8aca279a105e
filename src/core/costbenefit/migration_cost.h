/* migration_cost.h: whether a migration is worth it (§3.1.4).
 *
 * Cost and benefit are in resource × time: MHz · s and MiB · s. The benefit is the demand that goes unserved
 * without the move and is served with it, on both hosts together, at today's demand, for the stable time.
 * What comes after it is the worst case (the source's VMs at their minimum of the last hour, the
 * destination's and the moved one at their maximum): it can forbid a move, and adds nothing to its benefit
 * (README.md). Demand varies, so what is counted is the expected shortfall; README.md gives the variance that
 * is assumed and where its figures come from.
 *
 * A VM that is on its way is counted where it will be. Sums are kept per slot, so that estimating a
 * move is O(1).
 */
#ifndef BALLAST_CORE_MIGRATION_COST_H
#define BALLAST_CORE_MIGRATION_COST_H

#include "core/costbenefit/migration.h"
#include "core/costbenefit/rates.h"
#include "core/layout/layout.h"

/* What is expected of the demand of a unit, or of a slot's units together. */
struct demand_range {
    double demand, variance; /* today's */
    double min, max;         /* of the last hour */
};

struct migration_cost {
    const struct layout *l;
    struct demand_range *unit[RES_COUNT], *slot[RES_COUNT];
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

struct migration_worth {
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz · s, MiB · s */
    double net; /* benefit - cost, each over the cluster's capacity, weighted like the imbalance; s */
    double worse_of[RES_COUNT]; /* how much more goes unserved in the worst case than it does now: MHz, MiB */
    double worse;               /* the same as net / s; <= 0: no more */
    double duration_s;
};

void migration_cost_init(struct migration_cost *costs, const struct layout *l,
                         double *const demand[RES_COUNT], struct arena *a);

/* Follows layout_move(). */
void migration_cost_move(struct migration_cost *costs, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* The weights of the imbalance have changed. */
void migration_cost_set_weights(struct migration_cost *costs, const double weight[RES_COUNT]);

void migration_cost_worth(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                          struct migration_worth *ret);

/* The cost alone, and the duration: between any two slots, wherever the unit is. */
void migration_cost_between(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                            uint32_t to_slot, struct migration_worth *ret);

/* Whether the move could pay at any destination at all: false only where migration_cost_worth() would find
 * net <= 0 for every one. */
bool migration_cost_may_pay(const struct migration_cost *costs, uint32_t unit);

/* Where hosts copy at different rates: the rate that a move of the unit must be faster than, to pay at all;
 * NO_LIMIT: it cannot. migration_cost_worth() finds net <= 0 for every destination that is reached at this
 * rate or a lower one. */
double migration_cost_rate_needed(const struct migration_cost *costs, uint32_t unit);

/* Seconds that the migration would take, between these slots. */
double migration_cost_duration(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                               uint32_t to_slot);

/* As many moves as can end within one interval: every migration takes one of the migrations that each of two
 * hosts may have at a time. */
int64_t migration_cost_moves_per_interval(const struct migration_cost *costs);

#endif
