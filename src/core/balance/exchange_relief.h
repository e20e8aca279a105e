/* exchange_relief.h: upper bounds of what an exchange could be worth, known before its other units are
 * chosen.
 *
 * A unit that leaves a slot ends some of the shortage there; what a slot receives adds to its shortage. So
 * the benefit of an exchange is at most the sum of what each of its units relieves where it leaves, for the
 * stable time of that slot, and it costs at least the sum of what copying each unit costs. The difference for
 * one unit is its surplus: an exchange can only pay if the surplus of its units together is above 0. Two
 * units that leave the same slot relieve it by all its shortage at most. */
#ifndef BALLAST_CORE_EXCHANGE_RELIEF_H
#define BALLAST_CORE_EXCHANGE_RELIEF_H

#include "core/costbenefit/migration_cost.h"

struct exchange_relief {
    const struct layout *l;
    double *of[RES_COUNT]; /* by unit: the shortage that ends with its departure; MHz, MiB */
    uint64_t *since;       /* by slot: the change after which `of` was computed; 0: never */
    double *surplus;       /* by unit, s; of units that may move */
    double *most;          /* by slot: the largest surplus of its units */
    double *all;           /* by slot: an upper bound of what several units relieve together, s */
    double price;          /* of copying, in units of the benefit: multiplied by costs->least of a unit */
    bool pays;             /* cost is not checked: no surplus is known */
};

void exchange_relief_init(struct exchange_relief *r, const struct layout *l);

/* Computes the bounds for the present level, weights and layout. */
void exchange_relief_refresh(struct exchange_relief *r, const struct migration_cost *costs);

/* Whether an exchange may pay. surplus: that of its units together, or more. */
static inline bool exchange_relief_may_pay(const struct exchange_relief *r, double surplus)
{
    return r->pays || surplus > 0;
}

#endif
