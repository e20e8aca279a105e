/* ballast forecast: the expected demand of the next 24 hours, and past forecasts against actual demand. */
#include "base/rfc3339.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/zone.h"

#include <math.h>
#include <string.h>

#define HOURS_MAX 840 /* the service's limit */
#define HOURS_TEXT "24"
#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0
#define PERCENT 100.0
#define HOUR_LEN 17   /* of "Mon 2026-01-05 08" ... */
#define MINUTE_LEN 20 /* ... and of "Mon 2026-01-05 08:15" */
#define WEEKDAY_LEN 4 /* length of the part before the date */
#define CLOCK_AT 15   /* offset of the time of day */
#define CLOCK_LEN 5   /* of "08:15" */

enum { OPT_SOCKET, OPT_HOURS, OPT_ALL, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_HOURS] = {"hours", "N", 0,
                   "also compare with the actual demand of the last N hours, by quarter of an hour"},
    [OPT_ALL] = {"all", NULL, 0,
                 "show every quarter of an hour; compares the last " HOURS_TEXT
                 " hours, unless --hours is given"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column past_columns[] = {
    {"FROM", false},   {"CPU GHZ", true}, {"ACTUAL", true}, {"DIFF", true},
    {"MEM GIB", true}, {"ACTUAL", true},  {"DAYS", true},   {"WOKEN", true},
};

static const struct column ahead_columns[] = {
    {"FROM", false}, {"TO", false}, {"CPU GHZ", true}, {"MEM GIB", true}, {"DAYS", true},
};

/* ---- cells ----------------------------------------------------------------------------------- */

/* "Mon 2026-01-05 08:15:00 +01:00" in the service's zone; in UTC if the zone is unknown here. */
static const char *local_of(const json_t *f, instant_s t, struct arena *a)
{
    const char *zone = reply_text(f, "time_zone");
    char text[ZONE_TEXT_MAX];

    return arena_strdup(a, zone_text(zone && zone_is_known(zone) ? zone : ZONE_UTC, t, text));
}

static instant_s time_of(const json_t *slot)
{
    const char *text = reply_text(slot, "time");
    instant_s t = 0;

    if (text)
        (void)rfc3339_parse(text, &t);
    return t;
}

static const char *amount(double v, double unit, struct arena *a)
{
    return isnan(v) ? "-" : arena_printf(a, "%.1f", v / unit);
}

static const char *days_of(const json_t *slot, struct arena *a)
{
    int64_t of = reply_int(slot, "of");

    return of > 0 ? arena_printf(a, "%lld of %lld", (long long)reply_int(slot, "days"), (long long)of) : "-";
}

/* Actual over expected demand, as a share of the expected; UNKNOWN: one of the two is unknown. */
static double difference(const json_t *slot)
{
    double expected = reply_number(json_object_get(slot, "expected"), "cpu_mhz");

    return expected > 0 ? reply_number(json_object_get(slot, "came"), "cpu_mhz") / expected - 1 : UNKNOWN;
}

/* ---- actual demand --------------------------------------------------------------------------- */

static void put_past_slot(struct table *t, const json_t *f, const json_t *slot, struct arena *a)
{
    const json_t *expected = json_object_get(slot, "expected");
    const json_t *came = json_object_get(slot, "came");
    double more = difference(slot);

    table_cellf(t, "%.*s", MINUTE_LEN - WEEKDAY_LEN, local_of(f, time_of(slot), a) + WEEKDAY_LEN);
    table_cell(t, amount(reply_number(expected, "cpu_mhz"), MHZ_PER_GHZ, a));
    table_cell(t, amount(reply_number(came, "cpu_mhz"), MHZ_PER_GHZ, a));
    table_cell(t, isnan(more) ? "-" : arena_printf(a, "%+.0f %%", PERCENT * more));
    table_cell(t, amount(reply_number(expected, "mem_mb"), MB_PER_GB, a));
    table_cell(t, amount(reply_number(came, "mem_mb"), MB_PER_GB, a));
    table_cell(t, days_of(slot, a));
    table_cellf(t, "%lld", (long long)reply_int(slot, "woken"));
}

static void put_past(const json_t *f, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(f, "past");
    const json_t *slot;
    struct table t = table_of(a, past_columns, COUNT_OF(past_columns));
    size_t i;

    strbuf_puts(out, "Actual demand:\n");
    json_array_foreach(list, i, slot) put_past_slot(&t, f, slot, a);
    if (i == 0)
        strbuf_puts(out, "no data yet\n");
    else
        table_render(&t, "", out);
    strbuf_puts(out, "\n");
}

/* The error of the forecast in one sentence. */
static void put_past_summary(const json_t *f, struct strbuf *out)
{
    const json_t *list = json_object_get(f, "past");
    double least = INFINITY;
    double most = -INFINITY;
    size_t expected = 0;
    int64_t woken = 0;
    const json_t *slot;
    size_t i;

    json_array_foreach(list, i, slot)
    {
        double more = difference(slot);

        woken += reply_int(slot, "woken");
        if (isnan(more))
            continue;
        expected++;
        least = fmin(least, more);
        most = fmax(most, more);
    }
    strbuf_puts(out, "Over the last " HOURS_TEXT " hours ");
    if (i == 0)
        strbuf_puts(out, "there is no data.\n");
    else if (expected == 0)
        strbuf_puts(out, "there was no forecast; --all shows the actual demand.\n");
    else
        strbuf_printf(out,
                      "%zu of %zu quarters of an hour had a forecast;\n"
                      "actual CPU was %+.0f %% to %+.0f %% off; hosts woken for it: %lld. See --all.\n",
                      expected, i, PERCENT * least, PERCENT * most, (long long)woken);
    strbuf_puts(out, "\n");
}

/* ---- expected demand ------------------------------------------------------------------------- */

/* A row of the table: one slot, or several adjoining ones. */
struct stretch {
    instant_s begins, ends;
    const char *from;       /* local time */
    double cpu_mhz, mem_mb; /* maximum of the row */
    const char *days;       /* of the slot with the highest CPU demand */
};

static void put_stretch(struct table *t, const json_t *f, const struct stretch *s, struct arena *a)
{
    table_cellf(t, "%.*s", MINUTE_LEN, s->from);
    table_cellf(t, "%.*s", CLOCK_LEN, local_of(f, s->ends, a) + CLOCK_AT);
    table_cell(t, amount(s->cpu_mhz, MHZ_PER_GHZ, a));
    table_cell(t, amount(s->mem_mb, MB_PER_GB, a));
    table_cell(t, s->days);
}

typedef bool (*alike_fn)(const struct stretch *s, const struct stretch *next, struct arena *a);

static bool is_same_hour(const struct stretch *s, const struct stretch *next, struct arena *a)
{
    (void)a;
    return strncmp(s->from, next->from, HOUR_LEN) == 0;
}

static bool looks_the_same(const struct stretch *s, const struct stretch *next, struct arena *a)
{
    return strcmp(s->days, next->days) == 0 &&
           strcmp(amount(s->cpu_mhz, MHZ_PER_GHZ, a), amount(next->cpu_mhz, MHZ_PER_GHZ, a)) == 0 &&
           strcmp(amount(s->mem_mb, MB_PER_GB, a), amount(next->mem_mb, MB_PER_GB, a)) == 0;
}

/* Merges adjoining slots with equal text; returns the number of rows left. */
static size_t unite(struct stretch *list, size_t n, alike_fn alike, struct arena *a)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct stretch *last = left > 0 ? &list[left - 1] : NULL;

        if (!last || last->ends != list[i].begins || !alike(last, &list[i], a)) {
            list[left++] = list[i];
            continue;
        }
        if (list[i].cpu_mhz > last->cpu_mhz)
            last->days = list[i].days;
        last->cpu_mhz = fmax(last->cpu_mhz, list[i].cpu_mhz);
        last->mem_mb = fmax(last->mem_mb, list[i].mem_mb);
        last->ends = list[i].ends;
    }
    return left;
}

static void put_ahead(const json_t *f, bool all, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(f, "ahead");
    struct stretch *rows = arena_array(a, struct stretch, json_array_size(list) + 1);
    const json_t *slot;
    struct table t = table_of(a, ahead_columns, COUNT_OF(ahead_columns));
    size_t n;

    strbuf_puts(out, "Expected demand:\n");
    json_array_foreach(list, n, slot)
    {
        const json_t *expected = json_object_get(slot, "expected");
        instant_s begins = time_of(slot);

        rows[n] = (struct stretch){
            .begins = begins,
            .ends = begins + (instant_s)reply_int(f, "slot_s"),
            .from = local_of(f, begins, a),
            .cpu_mhz = reply_number(expected, "cpu_mhz"),
            .mem_mb = reply_number(expected, "mem_mb"),
            .days = days_of(slot, a),
        };
    }
    if (n == 0) {
        strbuf_puts(out, "unknown: a forecast needs three days of the same kind, two thirds of them\n"
                         "with similar demand\n");
        return;
    }
    if (!all)
        n = unite(rows, unite(rows, n, is_same_hour, a), looks_the_same, a);
    for (size_t i = 0; i < n; i++)
        put_stretch(&t, f, &rows[i], a);
    table_render(&t, "", out);
}

/* Whether DPM uses the forecast. */
static void put_use(const json_t *f, struct arena *a, struct strbuf *out)
{
    const char *doubted = reply_text(f, "doubted_since");
    instant_s since = 0;

    if (!json_is_true(json_object_get(f, "dpm")))
        strbuf_puts(out, "dpm.enabled is false: no host is woken for it.\n");
    else if (!json_is_true(json_object_get(f, "proactive")))
        strbuf_puts(out, "dpm.proactive is false: no host is woken for it.\n");
    else if (doubted && rfc3339_parse(doubted, &since) == 0)
        strbuf_printf(out,
                      "Demand has not followed the forecast since %.*s. No host is woken\n"
                      "or kept on because of the forecast until it does again.\n",
                      MINUTE_LEN, local_of(f, since, a));
}

static void show_with(const json_t *reply, bool past, bool all, struct arena *a, struct strbuf *out)
{
    const json_t *f = json_object_get(reply, "forecast");
    const char *zone = reply_text(f, "time_zone");

    strbuf_puts(out, "Times are in ");
    table_put_text(out, zone && zone_is_known(zone) ? zone : ZONE_UTC);
    strbuf_puts(out, ".\n\n");
    if (past)
        put_past(f, a, out);
    else
        put_past_summary(f, out);
    put_ahead(f, all, a, out);
    put_use(f, a, out);
}

static void show_forecast(const json_t *reply, struct arena *a, struct strbuf *out)
{
    show_with(reply, false, false, a, out);
}

static void show_past(const json_t *reply, struct arena *a, struct strbuf *out)
{
    show_with(reply, true, false, a, out);
}

static void show_all(const json_t *reply, struct arena *a, struct strbuf *out)
{
    show_with(reply, true, true, a, out);
}

static enum exit_code verb_forecast_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *hours = args_value(args, OPT_HOURS, NULL);
    bool all = args->options[OPT_ALL].n > 0;
    unsigned long long n;
    enum exit_code code = cli_parse_number("hours", hours ? hours : HOURS_TEXT, 1, HOURS_MAX, &n);

    if (code != EXIT_DONE)
        return code;
    return client_show(args, json_pack("{s:s, s:I}", "command", "forecast", "hours", (json_int_t)n),
                       "forecast",
                       all     ? show_all
                       : hours ? show_past
                               : show_forecast,
                       a, out);
}

const struct verb verb_forecast = {
    .name = "forecast",
    .summary = "Show the demand that is expected over the next 24 hours.",
    .more = "Each row covers an hour, or several hours with the same figures; a figure is the highest "
            "mean of 5 minutes. DAYS: how many of the last days of the same kind it is based on. "
            "DIFF: actual CPU demand relative to the expected. WOKEN: hosts that were woken because "
            "of the forecast. Times are in dpm.time_zone.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_forecast_run,
};
