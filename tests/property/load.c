#include "load.h"

#include "core/demand/sample_guard.h"

#include <math.h>

void flat_load(struct snapshot *s)
{
    for (uint32_t v = 0; v < s->n_vms; v++) {
        if (s->vms[v].is.state == VM_ON)
            vm_facts_windows(&s->vms[v].is);
        s->vms[v].is.last_migrated = 0;
        s->vms[v].is.sample_age_s = UNKNOWN;
    }
    for (uint32_t h = 0; h < s->n_hosts; h++)
        for (int r = 0; r < RES_COUNT; r++)
            for (int w = 0; w < WINDOW_COUNT; w++) {
                double now = s->hosts[h].own.now[r];
                s->hosts[h].own.window[w][r] = (struct demand_stats){.mean = now, .min = now, .max = now};
            }
}

void expect_rise(struct snapshot *s, const struct policy *policy, double factor, instant_s from,
                 struct arena *a)
{
    struct guard guard;

    sample_guard_judge(s, policy, a, &guard); /* its figures are those that decide */
    instant_s first = s->time - ((s->time - from) % FORECAST_SLOT_S + FORECAST_SLOT_S) % FORECAST_SLOT_S;
    s->n_forecast = 24;
    s->forecast = arena_array(a, struct expected, s->n_forecast);
    for (uint32_t i = 0; i < s->n_forecast; i++) {
        instant_s time = first + (instant_s)i * FORECAST_SLOT_S;

        s->forecast[i] = (struct expected){.time = time, .days = 3, .of = 3};
        for (uint32_t v = 0; v < s->n_vms; v++)
            for (int k = 0; k < RES_COUNT && vm_takes_part(guard.snap, &guard.snap->vms[v]); k++)
                s->forecast[i].demand[k] +=
                    (time >= from ? factor : 1) * fmin(guard.snap->vms[v].is.window[WINDOW_5M][k].mean,
                                                       guard.snap->vms[v].is.alloc[k].limit);
    }
}
