/* Builds the findings about the demand forecast: the demand, the time, the days it is based on, the load. */
#include "core/power/proactive.h"

/* The load of the hosts that are on or waking at the end of the rise. */
static double load_then(const struct power *w, const struct rise *rise, int r, uint32_t *ret_hosts)
{
    double capacity = 0;

    *ret_hosts = 0;
    for (uint32_t i = 0; i < w->l->n_slots; i++) {
        const struct host *h = &w->l->snap->hosts[w->l->slot_host[i]];
        if (!(i < w->l->n_on ? !w->l->closing[i] : w->p->coming[i]))
            continue;
        capacity += h->capacity[r];
        (*ret_hosts)++;
    }
    return capacity > 0 ? rise->part[r] * rise->now[r] * rise->factor[r] / capacity : 0;
}

/* The resource with the higher load relative to the range. */
static int scarcer(const struct power *w, const struct rise *rise)
{
    uint32_t n;

    if (!rise->slot[RES_CPU])
        return RES_MEM;
    if (!rise->slot[RES_MEM])
        return RES_CPU;
    return load_then(w, rise, RES_MEM, &n) > load_then(w, rise, RES_CPU, &n) ? RES_MEM : RES_CPU;
}

/* The forecast demand, its time, and on how many of the past days it occurred. */
static struct finding find_expected(const struct expected *x, enum resource r)
{
    return (struct finding){.code = FIND_POWER,
                            .resource = r,
                            .alike = x->alike,
                            .figures = {{FIGURE_EXPECTED, x->demand[r]},
                                        {FIGURE_DAYS, x->days},
                                        {FIGURE_DAYS_ALL, x->of},
                                        {FIGURE_AT, (double)x->time}}};
}

struct finding proactive_finding_rise(const struct power *w)
{
    int r = scarcer(w, w->rise);
    struct finding f = find_expected(w->rise->slot[r], (enum resource)r);
    uint32_t n;
    double load = load_then(w, w->rise, r, &n);

    f.power = POWER_EXPECTED;
    finding_figure(&f, FIGURE_HOSTS, n);
    finding_figure(&f, FIGURE_LOAD, load);
    return f;
}

struct finding proactive_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    struct finding f = proactive_finding_rise(w);

    f.code = FIND_WAKE_EARLY;
    f.reason = REASON_EXPECTED_DEMAND;
    finding_subject(&f, SUBJECT_HOST, w->l->slot_host[slot]);
    finding_figure(&f, FIGURE_NOW, w->rise->now[f.resource]);
    finding_figure(&f, FIGURE_LOAD_MAX, w->u.above);
    finding_figure(&f, FIGURE_CPU_HIGH, v->after.high[RES_CPU]);
    finding_figure(&f, FIGURE_MEM_HIGH, v->after.high[RES_MEM]);
    return f;
}

struct finding proactive_finding_needed(uint32_t host, const struct power_verdict *v)
{
    struct finding f = find_expected(v->soon, v->r);

    f.power = POWER_NEEDED_SOON;
    finding_subject(&f, SUBJECT_HOST, host);
    finding_figure(&f, FIGURE_LOAD, v->is);
    return f;
}

const struct finding *proactive_finding_outlook(const struct power *w)
{
    const struct snapshot *s = w->l->snap;
    const struct expected *most = NULL;

    if (s->n_forecast == 0)
        return NULL;
    if (!w->l->policy->dpm.proactive)
        return finding_keep(w->p->a, (struct finding){.code = FIND_OUTLOOK_OFF});
    for (uint32_t i = 0; i < s->n_forecast; i++)
        if (!isnan(s->forecast[i].demand[RES_CPU]) &&
            (!most || s->forecast[i].demand[RES_CPU] > most->demand[RES_CPU]))
            most = &s->forecast[i];
    if (!most)
        return NULL;
    struct finding f = find_expected(most, RES_CPU);
    f.code = FIND_OUTLOOK;
    finding_figure(&f, FIGURE_NOW, proactive_now(w, RES_CPU));
    finding_figure(&f, FIGURE_UNTIL, (double)(s->forecast[s->n_forecast - 1].time + FORECAST_SLOT_S));
    return finding_keep(w->p->a, f);
}
