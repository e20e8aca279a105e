/* capped_demand.h: what VMs may get of what they want, however many hosts are on.
 *
 * What a VM wants beyond its own limit no host will ever give it, nor what all VMs of a pool want beyond the
 * limit of the pool: the mean is cut to what the limits leave of it (divvy_limit()). What is always between 0
 * and a limit cannot vary by more than its mean lets it (Bhatia and Davis 2000: σ² <= mean (limit - mean)):
 * of a VM that holds for its own variance, of a pool for that of the sum over its VMs, each of which is then
 * taken to vary by so much less. Nor can the sum of their most be more than the limit.
 *
 * Where no pool has a limit nothing is computed, and where none binds figures are the same to the last digit.
 */
#ifndef BALLAST_CORE_CAPPED_DEMAND_H
#define BALLAST_CORE_CAPPED_DEMAND_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* By VM, by index; NULL of a resource of which no pool has a limit. */
struct capped_demand {
    double *now[RES_COUNT];
    double *mean[WINDOW_COUNT][RES_COUNT];
    double *deviation[WINDOW_COUNT][RES_COUNT]; /* part of its standard deviation */
    double *most[WINDOW_COUNT][RES_COUNT];      /* part of its most */
};

/* Of one VM, within all limits. */
struct figures {
    double mean, variance, most;
};

/* Lives in the arena. */
void capped_demand_init(struct capped_demand *capped, const struct snapshot *snap, struct arena *a);

void capped_demand_window(const struct capped_demand *capped, const struct snapshot *snap, uint32_t vm,
                          enum window w, enum resource r, struct figures *ret);
double capped_demand_now(const struct capped_demand *capped, const struct snapshot *snap, uint32_t vm,
                         enum resource r);

#endif
