#include "core/power/utilization.h"

/* "mean plus two standard deviations" */
#define DEVIATIONS 2

static double host_utilization(const struct layout *l, enum resource r, enum window w, uint32_t slot)
{
    double mean = 0;
    double variance = 0;

    for (uint32_t i = 0; i < l->list[slot].n; i++) {
        uint32_t u = l->list[slot].items[i];
        for (uint32_t j = l->unit_from[u]; j < l->unit_from[u + 1]; j++) {
            const struct demand_stats *d = &l->snap->vms[l->unit_vms[j]].is.window[w][r];
            mean += d->mean;
            variance += d->stddev * d->stddev;
        }
    }
    return (mean + DEVIATIONS * sqrt(variance)) * l->inverse[r][slot];
}

void utilization_scores(const struct layout *l, enum resource r, double *ret_high, double *ret_low)
{
    double above = (l->policy->dpm.target + l->policy->dpm.tolerance) / 100;
    double below = (l->policy->dpm.target - l->policy->dpm.tolerance) / 100;
    double high = 0;
    double low = 0;

    for (uint32_t i = 0; i < l->n_on; i++) {
        double now = host_utilization(l, r, WINDOW_5M, i);
        double longer = host_utilization(l, r, WINDOW_40M, i);
        if (now > above)
            high += (now - above) * (now - above);
        if (longer < below)
            low += (below - longer) * (below - longer);
    }
    *ret_high = sqrt(high);
    *ret_low = sqrt(low);
}
