/* migration_cost.h: whether a migration is worth its cost (§3.1.4).
 *
 * Cost and benefit are resource × time: MHz · s and MiB · s. The benefit is the shortage that the move ends,
 * on both hosts together, at today's demand, for the stable time. The worst case after it (the source's VMs
 * at their minimum of the last hour, the destination's VMs and the moved VM at their maximum) can reject a
 * move but adds nothing to the benefit (README.md). Demand varies, so the shortage is an expected value;
 * README.md states the variance and its sources.
 *
 * A migrating VM counts on its destination. Sums are kept per slot, so that estimating a move is O(1). */
#ifndef BALLAST_CORE_MIGRATION_COST_H
#define BALLAST_CORE_MIGRATION_COST_H

#include "core/costbenefit/migration.h"
#include "core/costbenefit/rates.h"
#include "core/layout/layout.h"

/* Demand of a unit, or of all units of a slot. */
struct demand_range {
    double demand, variance; /* today's */
    double min, max;         /* of the last hour */
};

struct migration_cost {
    const struct layout *l;
    struct demand_range *unit[RES_COUNT], *slot[RES_COUNT];
    double *unit_stable_s;             /* stable time, s */
    double *slot_stable;               /* Σ stable × demand, CPU */
    double *slot_shortfall[RES_COUNT]; /* expected shortage at today's demand */
    double capacity[RES_COUNT];        /* of the cluster */
    struct rates rates;                /* copy rates between the hosts */
    double
        *least[RES_COUNT]; /* lower bound of the cost of moving each unit off its slot, to any destination */
    double *fixed[RES_COUNT]; /* of `least`: the part that does not depend on the copy rate */
    double stable_mean;       /* over the cluster, s */
    double weight[RES_COUNT];
};

struct migration_worth {
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz · s, MiB · s */
    double
        net; /* benefit - cost, each divided by the cluster's capacity and weighted like the imbalance; s */
    double worse_of[RES_COUNT]; /* growth of the shortage in the worst case: MHz, MiB */
    double worse;               /* `worse_of` in the units of net / s; <= 0: no growth */
    double duration_s;
};

void migration_cost_init(struct migration_cost *costs, const struct layout *l,
                         double *const demand[RES_COUNT], struct arena *a);

/* Updates the sums for a move, beside layout_move(). */
void migration_cost_move(struct migration_cost *costs, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* Sets the weights of the imbalance. */
void migration_cost_set_weights(struct migration_cost *costs, const double weight[RES_COUNT]);

void migration_cost_worth(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                          struct migration_worth *ret);

/* Cost and duration only, between any two slots, wherever the unit is. */
void migration_cost_between(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                            uint32_t to_slot, struct migration_worth *ret);

/* Whether the move could pay at any destination. False only if migration_cost_worth() finds net <= 0 for
 * every destination. */
bool migration_cost_may_pay(const struct migration_cost *costs, uint32_t unit);

/* With different copy rates: the rate above which a move of the unit may pay; NO_LIMIT: it cannot.
 * migration_cost_worth() finds net <= 0 for every destination at this rate or below. */
double migration_cost_rate_needed(const struct migration_cost *costs, uint32_t unit);

/* Duration of the migration between these slots, s. */
double migration_cost_duration(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                               uint32_t to_slot);

/* The number of migrations that can end within one interval: each uses one of the concurrent migrations of
 * its two hosts. */
int64_t migration_cost_moves_per_interval(const struct migration_cost *costs);

#endif
