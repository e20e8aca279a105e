/* Proactive operation: wakes hosts before a rise of the demand forecast, and keeps them on shortly before it.
 */
#include "core/power/proactive.h"

/* A smaller rise is normal variation. */
#define RISE_LEAST 1.2

/* The present pass may have just missed the moment, and VMs must migrate to the host after its wake. */
#define INTERVALS_AHEAD 2

/* The forecast is learned from this figure too (demand_profile.h): pool limits do not apply. */
double proactive_now(const struct power *w, enum resource r)
{
    return w->u.wanted[WINDOW_5M][r];
}

double proactive_part_given(const struct power *w, enum resource r)
{
    double gets = 0;

    if (!w->u.capped->now[r] || !(w->u.wanted[WINDOW_5M][r] > 0))
        return 1;
    for (uint32_t i = 0; i < w->l->n_units; i++)
        gets += w->u.unit[i].mean[WINDOW_5M][r];
    return fmin(gets / w->u.wanted[WINDOW_5M][r], 1);
}

/* The forecast of the present demand; 0: none. */
static double expected_of_now(const struct snapshot *s, int r)
{
    double demand = s->n_forecast > 0 && s->forecast[0].time <= s->time ? s->forecast[0].demand[r] : 0;

    return isnan(demand) ? 0 : demand;
}

/* The largest expected rise until then. False: no rise. */
static bool find_expected_rise(const struct power *w, instant_s until, struct rise *ret)
{
    const struct snapshot *s = w->l->snap;
    bool rises = false;

    *ret = (struct rise){.factor = {1, 1}};
    if (!w->l->policy->dpm.proactive || s->n_forecast == 0)
        return false;
    for (int r = 0; r < RES_COUNT; r++) {
        ret->now[r] = proactive_now(w, (enum resource)r);
        ret->part[r] = proactive_part_given(w, (enum resource)r);
        for (uint32_t i = 0; i < s->n_forecast && ret->now[r] > 0; i++) {
            const struct expected *x = &s->forecast[i];
            double factor = x->demand[r] / ret->now[r]; /* UNKNOWN compares as false below */
            if (x->time + FORECAST_SLOT_S <= s->time || x->time >= until || !(factor >= RISE_LEAST) ||
                factor <= ret->factor[r])
                continue;
            ret->factor[r] = factor;
            ret->slot[r] = x;
            rises = true;
        }
    }
    return rises;
}

/* How long VMs leave the host that takes longest, for one that is woken. */
static double spread_s(const struct power *w, uint32_t to_slot)
{
    const struct layout *l = w->l;
    double longest = 0;

    for (uint32_t i = 0; i < l->n_on; i++) {
        const struct host_facts *h = &l->snap->hosts[l->slot_host[i]].is;
        double at_a_time = h->migrations_max ? h->migrations_max : (double)l->policy->migrations_per_host;
        double sum = 0;
        for (uint32_t k = 0; k < l->list[i].n; k++)
            sum += migration_cost_duration(&w->p->migration_cost, l->list[i].items[k], i, to_slot);
        longest = fmax(longest, sum / fmax(at_a_time, 1));
    }
    return longest;
}

/* Time until hosts that are woken now run VMs: of the slowest host in standby, and of the fullest one on. */
static double lead_s(const struct power *w)
{
    double boot_s = 0;
    double moves_s = 0;

    for (uint32_t i = 0; i < w->l->n_slots; i++) {
        const struct host_facts *h = &w->l->snap->hosts[w->l->slot_host[i]].is;
        if (h->state != HOST_STANDBY && h->state != HOST_POWERING_ON)
            continue;
        boot_s = fmax(boot_s, isnan(h->boot_s) ? (double)w->l->policy->dpm.boot_s : h->boot_s);
        moves_s = moves_s > 0 ? moves_s : spread_s(w, i);
    }
    double interval_s = (double)w->l->policy->interval_s;
    return boot_s + INTERVALS_AHEAD * interval_s + fmax(moves_s - interval_s, 0);
}

double proactive_wanted_s(const struct power *w, instant_s woken)
{
    const struct snapshot *s = w->l->snap;
    double boot_s = 0;

    for (uint32_t i = 0; i < s->n_hosts;
         i++) /* hosts that are on now included: any may have been the slowest in standby then */
        boot_s = fmax(boot_s, isnan(s->hosts[i].is.boot_s) ? (double)w->l->policy->dpm.boot_s
                                                           : s->hosts[i].is.boot_s);
    double over_s = boot_s + INTERVALS_AHEAD * (double)w->l->policy->interval_s + FORECAST_SLOT_S;

    for (uint32_t i = 0; i < s->n_forecast && w->l->policy->dpm.proactive; i++) {
        const struct expected *x = &s->forecast[i];
        bool known = !isnan(x->demand[RES_CPU]) || !isnan(x->demand[RES_MEM]);
        if (known && x->time + FORECAST_SLOT_S > s->time && (double)(x->time - woken) < over_s)
            return over_s;
    }
    return 0;
}

void proactive_look_ahead(struct power *w, struct utilization *ret_was)
{
    *ret_was = w->u;
    utilization_init(&w->u, w->l, w->p->a);
    utilization_scale(&w->u, w->rise->factor);
    utilization_score(&w->u, &w->scores);
}

void proactive_look_back(struct power *w, const struct utilization *was)
{
    w->u = *was;
    utilization_score(&w->u, &w->scores);
}

bool proactive_needs(struct power *w)
{
    struct rise *rise = arena_new(w->p->a, struct rise);
    struct utilization was;

    if (!find_expected_rise(w, w->l->snap->time + (instant_s)lead_s(w), rise))
        return false;
    /* demand below the forecast all along has ended early or did not come: no rise */
    for (int r = 0; r < RES_COUNT; r++)
        if (rise->slot[r] && rise->slot[r]->demand[r] < RISE_LEAST * expected_of_now(w->l->snap, r)) {
            rise->slot[r] = NULL;
            rise->factor[r] = 1;
        }
    if (!rise->slot[RES_CPU] && !rise->slot[RES_MEM])
        return false;
    w->rise = rise;
    proactive_look_ahead(w, &was);
    bool high = w->scores.high[RES_CPU] > 0 || w->scores.high[RES_MEM] > 0;
    proactive_look_back(w, &was);
    if (!high)
        w->rise = NULL;
    return high;
}

void proactive_wake(struct power *w)
{
    struct utilization was;

    proactive_look_ahead(w, &was);
    wake_hosts(w);
    proactive_look_back(w, &was);
}

/* The least time off after which the power-off has gained dpm.ratio times its cost. */
static double pays_after_s(const struct power *w, uint32_t slot, const struct sleep_worth *v)
{
    const struct host *h = &w->l->snap->hosts[w->l->slot_host[slot]];
    double off_s = (double)w->l->policy->dpm.off_min_s;

    for (int r = 0; r < RES_COUNT; r++)
        off_s = fmax(off_s, w->l->policy->dpm.ratio * v->cost[r] / h->capacity[r]);
    return off_s;
}

/* Whether the total demand after the rise exceeds the fill level of the remaining hosts. */
static bool fills(const struct power *w, const struct rise *rise, int r)
{
    return rise->slot[r] && rise->part[r] * rise->slot[r]->demand[r] > w->u.aim * w->alive_capacity[r];
}

/* Whether the rise would bring some remaining host above the range although the total fits: VMs are large or
 * bound to hosts. Asks as wake.c will: without the VMs in cool-down, and with them. The VMs are tried in a
 * different order then, so either may find a way that the other does not; the host is kept on if either
 * fails. */
static bool overfills(struct power *w, struct rise *rise)
{
    struct scores scores = w->scores;
    struct utilization was;
    bool *moved = w->moved;

    w->rise = rise;
    proactive_look_ahead(w, &was);
    bool over = wake_left_over(w, false) > 0;
    if (!over) {
        w->moved = arena_array(w->p->a, bool, w->l->n_units);
        over = wake_left_over(w, true) > 0;
        w->moved = moved;
    }
    w->u = was;
    w->rise = NULL;
    w->scores = scores;
    return over;
}

enum power_check proactive_lets_sleep(struct power *w, uint32_t slot, struct power_verdict *v)
{
    const struct host_facts *h = &w->l->snap->hosts[w->l->slot_host[slot]].is;
    const struct dpm_policy *dpm = &w->l->policy->dpm;
    double boot_s = isnan(h->boot_s) ? (double)dpm->boot_s : h->boot_s;
    double lead = fmax(boot_s + INTERVALS_AHEAD * (double)w->l->policy->interval_s, lead_s(w));
    double back_s = v->worth.evacuate_s + (double)dpm->standby_s + pays_after_s(w, slot, &v->worth) + lead;
    struct rise rise;

    if (!find_expected_rise(w, w->l->snap->time + (instant_s)back_s, &rise))
        return POWER_FINE;
    int r = fills(w, &rise, RES_CPU) ? RES_CPU : RES_MEM;
    if (!fills(w, &rise, r)) {
        if (!overfills(w, &rise))
            return POWER_FINE;
        r = rise.slot[RES_CPU] ? RES_CPU : RES_MEM;
    }
    v->r = (enum resource)r;
    v->soon = rise.slot[r];
    v->is = rise.part[r] * rise.slot[r]->demand[r] / w->alive_capacity[r];
    v->bound = w->n_alive;
    return POWER_NEEDED_SOON;
}
