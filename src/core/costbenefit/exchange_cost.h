/* exchange_cost.h: whether several migrations that only make sense together are worth their cost.
 *
 * The same terms as for a single move (migration_cost.h), over all hosts that end up with other VMs, and
 * equal to them for one migration:
 *
 * - The cost is the sum of the costs of all migrations.
 * - The benefit is the shortage that all of them end together. It counts from the end of the last migration
 * to the end of the stable time, the shortest of the hosts that VMs leave; memory that a host gives is
 * missing there for all of that time.
 * - While a VM waits on a host that it will leave again, or has joined a host that another one has yet to
 *   leave, the shortage may be above the one at the start: that is taken off, for as long as the next
 * migration takes.
 * - In the worst case the moved VMs are at their maximum of the last hour, the other VMs of a host at their
 *   maximum if its load grows, else at their minimum. */
#ifndef BALLAST_CORE_EXCHANGE_COST_H
#define BALLAST_CORE_EXCHANGE_COST_H

#include "core/costbenefit/migration_cost.h"

#define EXCHANGE_STEPS_MAX 4

/* Moves that are made one after the other. A unit may move twice. */
struct exchange_steps {
    uint32_t n;
    uint32_t unit[EXCHANGE_STEPS_MAX], to_slot[EXCHANGE_STEPS_MAX];
};

/* The units are where they are before the first step. *costs is the same afterwards, to the last digit, but
 * for the order of the VMs in its lists. */
void exchange_cost_worth(struct migration_cost *costs, const struct exchange_steps *steps,
                         struct migration_worth *ret);

/* Whether the exchange can pay and adds no shortage, as far as that does not depend on the order of its
 * steps. False: exchange_cost_worth() refuses it in every order, with or without a unit that waits. Each unit
 * makes one step. */
bool exchange_cost_may_pay(struct migration_cost *costs, const struct exchange_steps *steps);

#endif
