/* snapshot_build_forecast.c: checks the demand forecast of the next hours and sorts it by time; the same for
 * the expected quiet, by level. */
#include "base/order.h"
#include "model/inventory_check.h"
#include "model/snapshot_build.h"

#include "base/rfc3339.h"

#include <errno.h>

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
    order_sort(s->forecast, s->n_forecast, sizeof *s->forecast, by_time);
    for (uint32_t i = 1; i < s->n_forecast; i++) {
        if (s->forecast[i].time == s->forecast[i - 1].time)
            return err_set(err, -EINVAL, "/forecast: %s is given twice, expected once",
                           rfc3339_format(s->forecast[i].time, text));
    }
    return 0;
}

/* Rows of CPU come first. */
static int by_level(const void *a, const void *b)
{
    const struct quiet *x = a;
    const struct quiet *y = b;
    bool x_mem = isnan(x->level[RES_CPU]);
    bool y_mem = isnan(y->level[RES_CPU]);
    enum resource r = x_mem ? RES_MEM : RES_CPU;

    if (x_mem != y_mem)
        return x_mem ? 1 : -1;
    return (x->level[r] > y->level[r]) - (x->level[r] < y->level[r]);
}

int snapshot_build_quiet(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err)
{
    if (inv->n_quiet >= IX_NONE)
        return err_set(err, -EINVAL, "/quiet: %zu are absurd, expected fewer than %u", inv->n_quiet, IX_NONE);
    s->n_quiet = (uint32_t)inv->n_quiet;
    s->quiet = arena_array(a, struct quiet, s->n_quiet);
    for (uint32_t i = 0; i < s->n_quiet; i++) {
        int r = inventory_check_quiet(&inv->quiet[i], i, err);
        if (r < 0)
            return r;
        s->quiet[i] = inv->quiet[i];
    }
    order_sort(s->quiet, s->n_quiet, sizeof *s->quiet, by_level);
    for (uint32_t i = 1; i < s->n_quiet; i++)
        if (by_level(&s->quiet[i], &s->quiet[i - 1]) == 0)
            return err_set(err, -EINVAL, "/quiet: a level is given twice, expected once");
    return 0;
}
