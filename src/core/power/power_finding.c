/* Builds the findings of wakes and power-offs: the figures that an admin needs to judge them. */
#include "core/power/power.h"

/* The fullest host in the window, and its load. */
static double fullest(const struct power *w, enum window window, enum resource r, uint32_t *ret_host)
{
    double most = 0;

    *ret_host = IX_NONE;
    for (uint32_t i = 0; i < w->l->n_slots; i++) {
        double is = utilization_of(&w->u, &w->u.slot[i], window, r, i);
        if (!utilization_counts(w->l, i) || (*ret_host != IX_NONE && is <= most))
            continue;
        most = is;
        *ret_host = w->l->slot_host[i];
    }
    return most;
}

struct fullest power_finding_fullest(const struct power *w, enum window window)
{
    struct fullest f;

    for (int r = 0; r < RES_COUNT; r++)
        f.load[r] = fullest(w, window, (enum resource)r, &f.host[r]);
    return f;
}

/* w->u is that before the plan's power-offs; what the last of them leaves is said once, there. */
struct finding power_finding_sleep(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    const struct fullest none = {.host = {IX_NONE, IX_NONE}, .load = {UNKNOWN, UNKNOWN}};
    const struct fullest *full = slot == w->asleep[w->n_asleep - 1] ? &w->fullest : &none;
    double load[RES_COUNT];

    for (int r = 0; r < RES_COUNT; r++)
        load[r] = utilization_of(&w->u, &w->u.slot[slot], WINDOW_40M, (enum resource)r, slot);
    return (struct finding){.code = FIND_SLEEP,
                            .reason = REASON_CONSOLIDATE,
                            .subjects = {{SUBJECT_HOST, w->l->slot_host[slot]},
                                         {SUBJECT_CPU_FULLEST, full->host[RES_CPU]},
                                         {SUBJECT_MEM_FULLEST, full->host[RES_MEM]}},
                            .figures = {{FIGURE_CPU_LOAD, load[RES_CPU]},
                                        {FIGURE_MEM_LOAD, load[RES_MEM]},
                                        {FIGURE_CPU_LOAD_FULLEST, full->load[RES_CPU]},
                                        {FIGURE_MEM_LOAD_FULLEST, full->load[RES_MEM]},
                                        {FIGURE_CPU_COST, v->worth.cost[RES_CPU]},
                                        {FIGURE_MEM_COST, v->worth.cost[RES_MEM]},
                                        {FIGURE_CPU_BENEFIT, v->worth.benefit[RES_CPU]},
                                        {FIGURE_MEM_BENEFIT, v->worth.benefit[RES_MEM]},
                                        {FIGURE_RATIO_MIN, w->l->policy->dpm.ratio},
                                        {FIGURE_WATTS, v->worth.watts},
                                        {FIGURE_VMS, v->n_moves - v->n_making_room},
                                        {FIGURE_OFF_S, v->worth.off_s}}};
}

struct finding power_finding_wake(const struct power *w, uint32_t slot, const struct power_verdict *v)
{
    struct fullest full = power_finding_fullest(w, WINDOW_5M);

    return (struct finding){.code = FIND_WAKE_HIGH,
                            .reason = REASON_HIGH_UTILIZATION,
                            .subjects = {{SUBJECT_HOST, w->l->slot_host[slot]},
                                         {SUBJECT_CPU_FULLEST, full.host[RES_CPU]},
                                         {SUBJECT_MEM_FULLEST, full.host[RES_MEM]}},
                            .figures = {{FIGURE_CPU_LOAD_FULLEST, full.load[RES_CPU]},
                                        {FIGURE_MEM_LOAD_FULLEST, full.load[RES_MEM]},
                                        {FIGURE_LOAD_MAX, w->u.above},
                                        {FIGURE_CPU_HIGH, v->after.high[RES_CPU]},
                                        {FIGURE_MEM_HIGH, v->after.high[RES_MEM]}}};
}
