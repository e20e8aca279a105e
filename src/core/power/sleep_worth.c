/* Estimates cost and benefit of a power-off (§4.2). */
#include "core/power/sleep_worth.h"

#include "core/power/proactive.h"

#define MIGRATIONS_LEAST 1.0

/* The evacuation, and as many moves back. */
#define WAYS 2

/* Idle power less standby power, because the load moves elsewhere; UNKNOWN. */
static double saved_watts(const struct host_facts *f)
{
    double saved = f->power_idle_w - (isnan(f->power_standby_w) ? 0 : f->power_standby_w);

    return saved < 0 ? 0 : saved;
}

/* Whether demand was above the level: levels ascend, to the highest that was seen. */
static bool has_been_higher(const struct snapshot *s, enum resource r, const struct quiet *q)
{
    const struct quiet *next = q + 1;

    return next < s->quiet + s->n_quiet && !isnan(next->level[r]);
}

/* Of the levels up to which the hosts that stay on need no further one, the highest; NULL: nothing is known
 * of the past, or demand has never been above the level. ret_quiet: false where demand is above it now. */
static const struct quiet *find_quiet(const struct power *w, enum resource r, bool *ret_quiet)
{
    const struct snapshot *s = w->l->snap;
    double most = w->u.above * w->alive_capacity[r];
    double part = proactive_part_given(w, r);
    const struct quiet *found = NULL;

    *ret_quiet = true;
    for (uint32_t i = 0; i < s->n_quiet; i++) { /* levels ascend */
        const struct quiet *q = &s->quiet[i];
        if (isnan(q->level[r]))
            continue;
        bool within = part * q->level[r] <= most;
        if (!found)
            *ret_quiet = within;
        if (!found || within)
            found = q;
    }
    return found && (found->of > 0 || !*ret_quiet || has_been_higher(s, r, found)) ? found : NULL;
}

/* How long capacity is missing after a rise: until a pass sees the rise, and the host has booted. */
static double late_s(const struct policy *policy, const struct host *h)
{
    double boot_s = isnan(h->is.boot_s) ? (double)policy->dpm.boot_s : h->is.boot_s;

    return (double)policy->interval_s + boot_s;
}

double sleep_worth_enough_s(const struct snapshot *s, const struct policy *policy)
{
    double late = 0;

    for (uint32_t i = 0; i < s->n_hosts; i++)
        late = fmax(late, late_s(policy, &s->hosts[i]));
    return fmax((double)policy->dpm.off_min_s, policy->dpm.ratio * late);
}

/* Whether time off would pay for a host's capacity that is missing after each sudden rise. */
static bool pays_for_rises(const struct power *w, const struct host *h, const struct quiet *q, double quiet_s)
{
    return quiet_s * q->of >= w->l->policy->dpm.ratio * late_s(w->l->policy, h) * q->sudden;
}

enum power_check sleep_worth_expect(struct power *w, uint32_t slot, struct power_verdict *v)
{
    const struct host *h = &w->l->snap->hosts[w->l->slot_host[slot]];
    bool known = false;

    v->worth.quiet_s = (double)w->l->policy->dpm.off_min_s;
    for (int r = 0; r < RES_COUNT; r++) {
        bool quiet;
        const struct quiet *q = v->quiet[r] = find_quiet(w, (enum resource)r, &quiet);
        double lasts_s = q && quiet ? q->lasts_s : 0;
        v->left[r] = w->alive_capacity[r];
        if (!q || (known && v->worth.quiet_s <= lasts_s))
            continue;
        known = true;
        v->worth.quiet_s = lasts_s;
        v->r = (enum resource)r;
    }
    for (int r = 0; r < RES_COUNT; r++) {
        const struct quiet *q = v->quiet[r];
        double now = w->u.wanted[WINDOW_40M][r];
        bool pays = q && pays_for_rises(w, h, q, v->worth.quiet_s);
        w->u.rise[r] = q && now > 0 && !pays ? q->rise / now : 0;
        w->u.rise_is_missed[r] = pays && q->of > 0;
    }
    return v->worth.quiet_s < (double)w->l->policy->dpm.off_min_s ? POWER_QUIET_SHORT : POWER_FINE;
}

void sleep_worth_estimate(const struct power *w, uint32_t slot, size_t first, struct sleep_worth *ret)
{
    const struct layout *l = w->l;
    const struct host *h = &l->snap->hosts[l->slot_host[slot]];
    const struct policy *policy = l->policy;
    double at_a_time = h->is.migrations_max ? h->is.migrations_max : (double)policy->migrations_per_host;
    struct sleep_worth v = {.watts = saved_watts(&h->is), .quiet_s = ret->quiet_s};

    for (size_t i = first; i < w->n_steps; i++) {
        struct migration_worth move;
        if (w->steps[i].moved_before) /* the host that it leaves counted the move */
            continue;
        migration_cost_between(&w->p->migration_cost, w->steps[i].unit, w->steps[i].from, w->steps[i].to,
                               &move);
        v.evacuate_s += move.duration_s;
        for (int r = 0; r < RES_COUNT; r++)
            v.cost[r] += WAYS * move.cost[r];
        v.cost[RES_MEM] += w->steps[i].reclaimed_mb * move.duration_s; /* none on the way back */
    }
    v.evacuate_s /= fmax(at_a_time, MIGRATIONS_LEAST);
    v.off_s = fmax(v.quiet_s - (double)policy->dpm.standby_s - v.evacuate_s, 0);
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
