/* day.c: demand, entitlement and delivery of one VM, host or pool over the last hour and day. */
#include "cli/day.h"

#include "base/clock.h"
#include "base/rfc3339.h"
#include "render/table.h"

#include <math.h>
#include <string.h>

#define US_PER_S 1000000
#define ALL_PERCENT 99.5
#define MINUTE_S 60
#define HOUR_S 3600
#define DAY_S (24 * HOUR_S)

/* A figure over the last so many seconds. */
struct sum {
    double mean, lowest, highest; /* UNKNOWN */
    instant_s lowest_at;
};

static instant_s begin_of(const json_t *series)
{
    const char *text = reply_text(series, "since");
    instant_s since = 0;

    (void)rfc3339_parse(text ? text : "", &since);
    return since;
}

static struct sum sum_of(const json_t *series, const char *figure, instant_s last_s)
{
    const json_t *list = json_object_get(json_object_get(series, "figures"), figure);
    const instant_s from = clock_us(CLOCK_REALTIME) / US_PER_S - last_s;
    const int64_t step_s = reply_int(series, "step_s");
    struct sum s = {UNKNOWN, UNKNOWN, UNKNOWN, 0};
    instant_s time = begin_of(series);
    double total = 0;
    size_t known = 0, i;
    const json_t *v;

    json_array_foreach(list, i, v)
    {
        const double x = json_number_value(v);

        if (json_is_number(v) && time > from - step_s) {
            total += x;
            if (known++ == 0 || x < s.lowest) {
                s.lowest = x;
                s.lowest_at = time;
            }
            s.highest = known == 1 || x > s.highest ? x : s.highest;
            s.mean = total / (double)known;
        }
        time += step_s;
    }
    return s;
}

static void put_cell(struct table *t, double value)
{
    if (isnan(value))
        table_cell(t, "?");
    else
        table_cellf(t, "%.0f", value);
}

static const struct column columns[] = {
    {"OVER", false},       {"RESOURCE", false}, {"DEMAND", true},  {"HIGHEST", true},
    {"ENTITLEMENT", true}, {"DELIVERED", true}, {"SCORE %", true}, {"LOWEST %", true},
};

static const struct {
    const char *label, *demand, *highest, *entitlement, *delivered, *score, *lowest;
} resources[] = {
    {"CPU MHz", "cpu_demand", "cpu_demand_max", "cpu_entitlement", "cpu_delivered", "cpu_score",
     "cpu_score_min"},
    {"mem MiB", "mem_demand", "mem_demand_max", "mem_entitlement", "mem_delivered", "mem_score",
     "mem_score_min"},
};

/* Whether it got its entitlement: a VM, or the VMs of a host or pool. */
static void put_verdict(const json_t *series, struct strbuf *out)
{
    const char *name = reply_text(series, "name") ? reply_text(series, "name") : reply_text(series, "id");
    const char *kind = reply_text(series, "kind");
    const bool many = kind && strcmp(kind, "vm") != 0;

    for (size_t r = 0; r < COUNT_OF(resources); r++) {
        const struct sum s = sum_of(series, resources[r].lowest, DAY_S);
        const char *what = r == 0 ? "CPU" : "memory";
        char at[RFC3339_MAX];

        strbuf_puts(out, r == 0 ? "\n" : "");
        strbuf_puts(out, many ? "The VMs of " : "");
        table_put_text(out, name ? name : "-");
        if (isnan(s.lowest))
            strbuf_printf(out, ": the part of %s that was delivered is not known.\n", what);
        else if (s.lowest >= ALL_PERCENT)
            strbuf_printf(out, " got all %s that %s wanted and %s entitled to.\n", what, many ? "they" : "it",
                          many ? "were" : "was");
        else
            strbuf_printf(out, " got %.0f %% of the %s due to %s at the worst, at %s.\n", s.lowest, what,
                          many ? "them" : "it", rfc3339_format(s.lowest_at, at));
    }
}

json_t *day_request(const char *kind, const char *name)
{
    return json_pack("{s:s, s:s, s:i}", "command", "series", kind, name, "step", MINUTE_S);
}

void day_show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *series = json_object_get(reply, "series");
    struct table t = table_of(a, columns, COUNT_OF(columns));

    for (int period = 0; period < 2; period++) {
        const instant_s last_s = period == 0 ? HOUR_S : DAY_S;

        for (size_t r = 0; r < COUNT_OF(resources); r++) {
            table_cell(&t, period == 0 ? "last hour" : "last day");
            table_cell(&t, resources[r].label);
            put_cell(&t, sum_of(series, resources[r].demand, last_s).mean);
            put_cell(&t, sum_of(series, resources[r].highest, last_s).highest);
            put_cell(&t, sum_of(series, resources[r].entitlement, last_s).mean);
            put_cell(&t, sum_of(series, resources[r].delivered, last_s).mean);
            put_cell(&t, sum_of(series, resources[r].score, last_s).mean);
            put_cell(&t, sum_of(series, resources[r].lowest, last_s).lowest);
        }
    }
    table_render(&t, "", out);
    put_verdict(series, out);
}
