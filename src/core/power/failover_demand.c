/* Whether the hosts that stay on could serve all demand after the losses that high availability promises to
 * survive. Failover slots (../layout) keep reservations only.
 *
 * Demand is the sum of the hosts' utilization in the window of power-offs; it stays the same when hosts are
 * lost, because all their VMs restart. Capacity is added up, not searched for places: hosts divide CPU among
 * any VMs, and the balancing evens out what the restarts leave uneven; but no move makes up for capacity that
 * is missing in sum, and hosts in standby take minutes to boot. */
#include "core/power/power.h"

#include <stdlib.h>

/* Two sums of the same numbers may differ by this share, because their order of addition differs. */
#define ROUNDING 1e-9

static int largest_first(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x < *y) - (*x > *y);
}

/* Dedicated failover hosts that are on, and their capacity. */
static uint32_t count_failover_hosts(const struct layout *l, enum resource r, double *ret_capacity)
{
    uint32_t n = 0;

    *ret_capacity = 0;
    for (uint32_t i = 0; i < l->snap->n_hosts; i++) {
        const struct host *h = &l->snap->hosts[i];
        if (!h->failover || h->is.state != HOST_ON)
            continue;
        *ret_capacity += host_room(h, r);
        n++;
    }
    return n;
}

/* Capacity of the hosts that stay on without the n largest of them. */
static double without_largest(const struct power *w, enum resource r, uint32_t n)
{
    double *capacity = w->by_capacity;
    double sum = 0;

    for (uint32_t i = 0; i < w->n_alive; i++)
        capacity[i] = host_room(&w->l->snap->hosts[w->l->slot_host[w->alive[i]]], r);
    if (n > 0 && w->n_alive > 0)
        qsort(capacity, w->n_alive, sizeof capacity[0], largest_first);
    for (uint32_t i = n; i < w->n_alive; i++)
        sum += capacity[i];
    return sum;
}

/* The capacity that is left after the worst of the promised losses. False: nothing is promised.
 * Dedicated failover hosts run VMs then: their policy promises the loss of as many hosts. */
static bool left_after_loss(const struct power *w, enum resource r, double *ret_left, uint32_t *ret_hosts)
{
    const struct failover_promise *promise = &w->l->snap->promise;
    double failover;
    uint32_t dedicated = count_failover_hosts(w->l, r, &failover);
    double share = (without_largest(w, r, 0) + failover) * (1 - promise->percent[r] / 100);

    *ret_hosts = promise->hosts > dedicated ? promise->hosts : dedicated;
    *ret_left = without_largest(w, r, *ret_hosts) + failover;
    if (promise->percent[r] > 0 && share < *ret_left) {
        *ret_hosts = 0;
        *ret_left = share;
    }
    return *ret_hosts > 0 || promise->percent[r] > 0;
}

enum power_check failover_demand_check(const struct power *w, struct power_verdict *ret)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double left;
        double demand = 0;
        uint32_t hosts;
        if (!left_after_loss(w, (enum resource)r, &left, &hosts))
            continue;
        for (uint32_t i = 0; i < w->l->n_slots; i++) { /* VMs that leave a host in maintenance count too */
            const struct host *h = &w->l->snap->hosts[w->l->slot_host[i]];
            demand += utilization_of(&w->u, &w->u.slot[i], WINDOW_40M, (enum resource)r, i) * h->capacity[r] -
                      h->own.window[WINDOW_40M][r].mean;
        }
        if (demand <= left * (1 + ROUNDING))
            continue;
        ret->r = (enum resource)r;
        ret->is = demand;
        ret->bound = left;
        ret->hosts = hosts;
        return POWER_FAILOVER_DEMAND;
    }
    return POWER_FINE;
}
