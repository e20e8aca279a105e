/* capped_demand.h: VMs' demand without what limits deny, however many hosts are on.
 *
 * Demand beyond a VM's limit, or of a pool's VMs beyond the pool's limit, is never served. divvy_limit() cuts
 * the mean. A value between 0 and a limit cannot vary by more than its mean allows (Bhatia and Davis 2000:
 * σ² <= mean (limit - mean)). That holds for a VM's own variance, and for the variance of the sum over a
 * pool's VMs, each of which then varies by so much less. The sum of their maxima is at most the limit.
 *
 * Only limits that the hypervisor enforces deny anything: what the configuration alone limits is used.
 *
 * Without a pool limit nothing is computed; with limits that do not bind, figures are equal to the last
 * digit.
 */
#ifndef BALLAST_CORE_CAPPED_DEMAND_H
#define BALLAST_CORE_CAPPED_DEMAND_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* By VM; NULL for a resource without pool limits in force. */
struct capped_demand {
    const struct snapshot *snap; /* with the limits in force (divvy/enforced.h) */
    double *now[RES_COUNT];
    double *mean[WINDOW_COUNT][RES_COUNT];
    double *deviation[WINDOW_COUNT][RES_COUNT]; /* factor of its standard deviation */
    double *most[WINDOW_COUNT][RES_COUNT];      /* factor of its maximum */
};

/* The demand of one VM within all limits. */
struct figures {
    double mean, variance, most;
};

/* Lives in the arena. */
void capped_demand_init(struct capped_demand *capped, const struct snapshot *snap, struct arena *a);

void capped_demand_window(const struct capped_demand *capped, uint32_t vm, enum window w, enum resource r,
                          struct figures *ret);
double capped_demand_now(const struct capped_demand *capped, uint32_t vm, enum resource r);

#endif
