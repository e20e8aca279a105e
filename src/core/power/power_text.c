/* What is said of a host that is put to standby or woken: what an admin needs to judge it. */
#include "core/power/power.h"

#define PERCENT 100.0
#define SECONDS_PER_MINUTE 60.0

static const char *host_name(const struct power *w, uint32_t slot)
{
    return w->l->snap->hosts[w->l->slot_host[slot]].is.name;
}

/* The host that is fullest in the window, and by how much. */
static double fullest(const struct power *w, enum window window, enum resource r, uint32_t *ret_slot)
{
    double most = 0;

    *ret_slot = IX_NONE;
    for (uint32_t i = 0; i < w->l->n_slots; i++) {
        double is = utilization_of(&w->u, &w->u.slot[i], window, r, i);
        if (!utilization_counts(w->l, i) || (*ret_slot != IX_NONE && is <= most))
            continue;
        most = is;
        *ret_slot = i;
    }
    return most;
}

/* "CPU 62 % on h1, memory 48 % on h2" */
const char *text_fullest(const struct power *w, enum window window)
{
    uint32_t at[RES_COUNT];
    double is[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        is[r] = fullest(w, window, (enum resource)r, &at[r]);
    if (at[RES_CPU] == IX_NONE)
        return "nothing";
    return arena_printf(w->p->a, "CPU %.0f %% (%s) and memory %.0f %% (%s)", PERCENT * is[RES_CPU],
                        host_name(w, at[RES_CPU]), PERCENT * is[RES_MEM], host_name(w, at[RES_MEM]));
}

static const char *text_times(const struct power *w, const struct sleep_worth *v, int r)
{
    if (!(v->cost[r] > 0))
        return "costs nothing";
    return arena_printf(w->p->a, "gains %.0f times its cost", v->benefit[r] / v->cost[r]);
}

static const char *text_worth(const struct power *w, const struct sleep_worth *v)
{
    if (!(v->cost[RES_CPU] > 0) && !(v->cost[RES_MEM] > 0))
        return "which costs nothing";
    return arena_printf(w->p->a, "which for CPU %s, for memory %s (asked: %.0f times)",
                        text_times(w, v, RES_CPU), text_times(w, v, RES_MEM), w->l->policy->dpm.ratio);
}

/* w->u is as it was before the plan's power-offs. */
const char *text_sleeps(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    const char *vms = v->n_moves == 0   ? "has no VMs and is"
                      : v->n_moves == 1 ? "is emptied of its VM and"
                                        : arena_printf(w->p->a, "is emptied of its %u VMs and", v->n_moves);
    const char *saves =
        isnan(v->worth.watts) ? "" : arena_printf(w->p->a, ", saving about %.0f W", v->worth.watts);
    bool short_while = v->worth.off_s < 2 * SECONDS_PER_MINUTE;
    double load[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        load[r] = utilization_of(&w->u, &w->u.slot[slot], WINDOW_40M, (enum resource)r, slot);
    return arena_printf(w->p->a,
                        "%s (CPU %.0f %%, memory %.0f %%) %s put to standby for about %.0f %s%s, %s. When "
                        "all is done the fullest host is at %s.",
                        host_name(w, slot), PERCENT * load[RES_CPU], PERCENT * load[RES_MEM], vms,
                        short_while ? v->worth.off_s : v->worth.off_s / SECONDS_PER_MINUTE,
                        short_while ? "seconds" : "minutes", saves, text_worth(w, &v->worth), w->fullest);
}

const char *text_wakes(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    return arena_printf(w->p->a,
                        "%s is woken, because the fullest host is at %s (mean of 5 minutes and two standard "
                        "deviations; at most %.0f %% is wanted); with it %s.",
                        host_name(w, slot), text_fullest(w, WINDOW_5M), PERCENT * w->u.above,
                        v->after.high[RES_CPU] > 0 || v->after.high[RES_MEM] > 0 ? "part of that is mended"
                                                                                 : "none is above that");
}
