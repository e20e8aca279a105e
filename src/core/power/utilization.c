#include "core/power/utilization.h"

/* "mean plus two standard deviations" */
#define DEVIATIONS 2

/* Sums over the VMs of a host, for both resources and the two windows that matter here. */
struct host_demand {
    double mean[RES_COUNT], variance[RES_COUNT];
};

static void add_demand(struct host_demand *h, const struct demand_stats of[RES_COUNT])
{
    for (int r = 0; r < RES_COUNT; r++) {
        h->mean[r] += of[r].mean;
        h->variance[r] += of[r].stddev * of[r].stddev;
    }
}

static double utilization(const struct layout *l, const struct host_demand *h, int r, uint32_t slot)
{
    return (h->mean[r] + DEVIATIONS * sqrt(h->variance[r])) * l->inverse[r][slot];
}

void utilization_scores(const struct layout *l, double ret_high[RES_COUNT], double ret_low[RES_COUNT])
{
    double above = (l->policy->dpm.target + l->policy->dpm.tolerance) / 100;
    double below = (l->policy->dpm.target - l->policy->dpm.tolerance) / 100;
    double high[RES_COUNT] = {0};
    double low[RES_COUNT] = {0};

    for (uint32_t i = 0; i < l->n_slots; i++) {
        if (i >= l->n_on && !l->waking[i])
            continue;
        struct host_demand recent = {0};
        struct host_demand longer = {0};
        for (uint32_t j = 0; j < l->list[i].n; j++) {
            uint32_t u = l->list[i].items[j];
            for (uint32_t k = l->unit_from[u]; k < l->unit_from[u + 1]; k++) {
                const struct vm_facts *v = &l->snap->vms[l->unit_vms[k]].is;
                add_demand(&recent, v->window[WINDOW_5M]);
                add_demand(&longer, v->window[WINDOW_40M]);
            }
        }
        for (int r = 0; r < RES_COUNT; r++) {
            double excess = utilization(l, &recent, r, i) - above;
            double lack = below - utilization(l, &longer, r, i);
            high[r] += excess > 0 ? excess * excess : 0;
            low[r] += lack > 0 ? lack * lack : 0;
        }
    }
    for (int r = 0; r < RES_COUNT; r++) {
        ret_high[r] = sqrt(high[r]);
        ret_low[r] = sqrt(low[r]);
    }
}
