/* Estimates cost and benefit of a power-off (§4.2). */
#include "core/power/power.h"

#define MIGRATIONS_LEAST 1.0

/* The evacuation, and as many moves back. */
#define WAYS 2

/* Idle power less standby power, because the load moves elsewhere; UNKNOWN. */
static double saved_watts(const struct host_facts *f)
{
    double saved = f->power_idle_w - (isnan(f->power_standby_w) ? 0 : f->power_standby_w);

    return saved < 0 ? 0 : saved;
}

void sleep_worth_estimate(const struct power *w, uint32_t slot, size_t first, struct sleep_worth *ret)
{
    const struct layout *l = w->l;
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    const struct policy *policy = l->policy;
    double at_a_time = h->is.migrations_max ? h->is.migrations_max : (double)policy->migrations_per_host;
    struct sleep_worth v = {.watts = saved_watts(&h->is)};

    for (size_t i = first; i < w->n_steps; i++) {
        struct migration_worth move;
        if (w->steps[i].moved_before) /* the host that it leaves counted the move */
            continue;
        migration_cost_between(&w->p->migration_cost, w->steps[i].unit, slot, w->steps[i].to, &move);
        v.evacuate_s += move.duration_s;
        for (int r = 0; r < RES_COUNT; r++)
            v.cost[r] += WAYS * move.cost[r];
    }
    v.evacuate_s /= fmax(at_a_time, MIGRATIONS_LEAST);
    v.off_s = fmax((double)(policy->dpm.off_min_s - policy->dpm.standby_s) - v.evacuate_s, 0);
    for (int r = 0; r < RES_COUNT; r++)
        v.benefit[r] = h->capacity[r] * v.off_s;
    *ret = v;
}

enum power_check sleep_worth_pays(const struct power *w, const struct sleep_worth *worth,
                                  enum resource *ret_r)
{
    for (int r = 0; r < RES_COUNT; r++) {
        *ret_r = (enum resource)r;
        if (!(worth->off_s > 0) || worth->benefit[r] < w->l->policy->dpm.ratio * worth->cost[r])
            return POWER_COST_BENEFIT;
    }
    return POWER_FINE;
}
