/* What is said of what is expected: figures that an admin can judge. Times are UTC. */
#include "core/plan/text.h"
#include "core/power/expected.h"

#define PERCENT 100.0
#define SECONDS_PER_MINUTE 60
#define MINUTES_PER_HOUR 60
#define HOURS_PER_DAY 24

/* "08:15 UTC" */
static const char *text_time(const struct power *w, instant_s t)
{
    instant_s minutes = t / SECONDS_PER_MINUTE;

    return arena_printf(w->p->a, "%02lld:%02lld UTC", (long long)(minutes / MINUTES_PER_HOUR % HOURS_PER_DAY),
                        (long long)(minutes % MINUTES_PER_HOUR));
}

/* "9 of the last 10 working days" */
static const char *text_days(const struct power *w, const struct expected *x)
{
    switch (x->alike) {
    case ALIKE_WORKING_DAYS:
        return arena_printf(w->p->a, "%u of the last %u working days", x->days, x->of);
    case ALIKE_WEEKENDS:
        return arena_printf(w->p->a, "%u of the last %u days of a weekend", x->days, x->of);
    case ALIKE_WEEKDAY:
        return arena_printf(w->p->a, "the same weekday of %u of the last %u weeks", x->days, x->of);
    case alike_days_count:
        break;
    }
    return "";
}

static const char *amount(const struct power *w, int r, double v)
{
    return r == RES_CPU ? text_mhz(w->p->a, v) : text_mb(w->p->a, v);
}

/* "by 08:00 UTC 78.0 GHz of CPU are expected, as on 9 of the last 10 working days " */
static const char *text_expected(const struct power *w, const struct expected *x, int r)
{
    const char *when = x->time > w->l->snap->time ? "by" : "since";

    return arena_printf(w->p->a, "%s %s %s of %s are expected, as on %s", when, text_time(w, x->time),
                        amount(w, r, x->demand[r]), r == RES_CPU ? "CPU" : "memory", text_days(w, x));
}

/* Of what is on and comes, at the end of the rise. */
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

/* Of the two resources the one that grows beyond the range, or more. */
static int scarcer(const struct power *w, const struct rise *rise)
{
    uint32_t n;

    if (!rise->slot[RES_CPU])
        return RES_MEM;
    if (!rise->slot[RES_MEM])
        return RES_CPU;
    return load_then(w, rise, RES_MEM, &n) > load_then(w, rise, RES_CPU, &n) ? RES_MEM : RES_CPU;
}

static const char *text_then(const struct power *w, const struct rise *rise, int r)
{
    uint32_t n;
    double load = load_then(w, rise, r, &n);

    return n == 1
               ? arena_printf(w->p->a, "the host that is on would be at %.0f %%", PERCENT * load)
               : arena_printf(w->p->a, "the %u hosts that are on or coming would be at %.0f %% in the mean",
                              n, PERCENT * load);
}

const char *text_wakes_early(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    const char *host = w->l->snap->hosts[w->l->slot_host[slot]].is.name;
    int r = scarcer(w, w->rise);

    return arena_printf(w->p->a,
                        "%s is woken early: %s (now %s); %s, and %.0f %% is the most that is wanted on any. "
                        "With it %s.",
                        host, text_expected(w, w->rise->slot[r], r), amount(w, r, w->rise->now[r]),
                        text_then(w, w->rise, r), PERCENT * w->u.above,
                        v->after.high[RES_CPU] > 0 || v->after.high[RES_MEM] > 0 ? "part of that is met"
                                                                                 : "none is above that");
}

/* A sentence of its own: the first letter is that of "By" or "Since". */
const char *text_rise(const struct power *w)
{
    int r = scarcer(w, w->rise);

    return text_sentence(w->p->a, arena_printf(w->p->a, "%s; %s then", text_expected(w, w->rise->slot[r], r),
                                               text_then(w, w->rise, r)));
}

const char *text_needed_soon(const struct power *w, uint32_t host, const struct power_verdict *v)
{
    return text_sentence(
        w->p->a,
        arena_printf(w->p->a,
                     "%s; without %s the hosts that are left would be at %.0f %% then, and it would "
                     "be woken again before being off has paid",
                     text_expected(w, v->soon, (int)v->r), w->l->snap->hosts[host].is.name, PERCENT * v->is));
}

const char *text_outlook(const struct power *w)
{
    const struct snapshot *s = w->l->snap;
    const struct expected *most = NULL;

    if (s->n_forecast == 0)
        return NULL;
    if (!w->l->policy->dpm.proactive)
        return "What is expected of the next hours is not looked at: dpm.proactive is false.";
    for (uint32_t i = 0; i < s->n_forecast; i++)
        if (!isnan(s->forecast[i].demand[RES_CPU]) &&
            (!most || s->forecast[i].demand[RES_CPU] > most->demand[RES_CPU]))
            most = &s->forecast[i];
    if (!most)
        return NULL;
    return arena_printf(
        w->p->a,
        "What is expected of all VMs until %s is %s of CPU at most, at %s, as on %s; now they want %s.",
        text_time(w, s->forecast[s->n_forecast - 1].time + FORECAST_SLOT_S),
        amount(w, RES_CPU, most->demand[RES_CPU]), text_time(w, most->time), text_days(w, most),
        amount(w, RES_CPU, expected_now(w, RES_CPU)));
}
