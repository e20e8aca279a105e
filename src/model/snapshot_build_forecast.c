/* snapshot_build_forecast.c: checks the demand forecast of the next hours and sorts it by time. */
#include "model/inventory_check.h"
#include "model/snapshot_build.h"

#include "base/rfc3339.h"

#include <errno.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const struct expected *x = a;
    const struct expected *y = b;

    return (x->time > y->time) - (x->time < y->time);
}

int snapshot_build_forecast(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err)
{
    char text[RFC3339_MAX];

    if (inv->n_forecast >= IX_NONE)
        return err_set(err, -EINVAL, "/forecast: %zu are absurd, expected fewer than %u", inv->n_forecast,
                       IX_NONE);
    s->n_forecast = (uint32_t)inv->n_forecast;
    s->forecast = arena_array(a, struct expected, s->n_forecast);
    for (uint32_t i = 0; i < s->n_forecast; i++) {
        int r = inventory_check_expected(&inv->forecast[i], i, err);
        if (r < 0)
            return r;
        s->forecast[i] = inv->forecast[i];
    }
    if (s->n_forecast > 0)
        qsort(s->forecast, s->n_forecast, sizeof *s->forecast, by_time);
    for (uint32_t i = 1; i < s->n_forecast; i++) {
        if (s->forecast[i].time == s->forecast[i - 1].time)
            return err_set(err, -EINVAL, "/forecast: %s is given twice, expected once",
                           rfc3339_format(s->forecast[i].time, text));
    }
    return 0;
}
