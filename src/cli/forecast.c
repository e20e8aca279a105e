/* forecast: what the cluster was expected to want, what came, and what is expected next. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOURS_MAX 840 /* the service's */
#define HOURS_TEXT "24"
#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0
#define PERCENT 100.0
#define TIME_LEN 16 /* of "2026-01-05T08:00" */

enum { OPT_SOCKET, OPT_HOURS, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_HOURS] = {"hours", "N", 0, "so many hours back (" HOURS_TEXT ")"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"FROM (UTC)", false},  {"CPU EXPECTED", true}, {"CAME", true}, {"DIFFERENCE", true},
    {"MEM EXPECTED", true}, {"CAME", true},         {"DAYS", true}, {"WOKEN", true},
};

static void put_amount(struct table *t, double v, double unit, const char *name)
{
    if (isnan(v))
        table_cell(t, "-");
    else
        table_cellf(t, "%.1f %s", v / unit, name);
}

static void put_difference(struct table *t, double expected, double came)
{
    if (isnan(expected) || isnan(came) || !(expected > 0))
        table_cell(t, "-");
    else
        table_cellf(t, "%+.0f %%", PERCENT * (came / expected - 1));
}

/* One of the past, or (came: NULL) one that is expected. */
static void put_slot(struct table *t, const json_t *slot)
{
    const json_t *expected = json_object_get(slot, "expected");
    const json_t *came = json_object_get(slot, "came");
    const char *time = reply_text(slot, "time");
    int64_t of = reply_int(slot, "of");

    table_cellf(t, "%.*s", TIME_LEN, time ? time : "-");
    put_amount(t, reply_number(expected, "cpu_mhz"), MHZ_PER_GHZ, "GHz");
    put_amount(t, reply_number(came, "cpu_mhz"), MHZ_PER_GHZ, "GHz");
    put_difference(t, reply_number(expected, "cpu_mhz"), reply_number(came, "cpu_mhz"));
    put_amount(t, reply_number(expected, "mem_mb"), MB_PER_GB, "GiB");
    put_amount(t, reply_number(came, "mem_mb"), MB_PER_GB, "GiB");
    if (of > 0)
        table_cellf(t, "%lld of %lld", (long long)reply_int(slot, "days"), (long long)of);
    else
        table_cell(t, "-");
    table_cellf(t, "%lld", (long long)reply_int(slot, "woken"));
}

static void put_list(const json_t *list, const char *none, struct arena *a, struct strbuf *out)
{
    struct table t;
    const json_t *slot;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    json_array_foreach(list, i, slot) put_slot(&t, slot);
    if (i == 0)
        strbuf_puts(out, none);
    else
        table_render(&t, "", out);
}

/* What becomes of it. */
static void put_use(const json_t *f, struct strbuf *out)
{
    const char *doubted = reply_text(f, "doubted_since");

    if (!json_is_true(json_object_get(f, "dpm")))
        strbuf_puts(out, "Power management is off (dpm.enabled): no host is woken for it.\n");
    else if (!json_is_true(json_object_get(f, "proactive")))
        strbuf_puts(out, "No host is woken for it: dpm.proactive is false.\n");
    else if (doubted)
        strbuf_printf(
            out,
            "This day has not been as expected since %.*s: no host is woken, or kept on, for what is "
            "expected until demand is as expected again.\n",
            TIME_LEN, doubted);
}

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *f = json_object_get(reply, "forecast");

    strbuf_puts(out, "What came:\n");
    put_list(json_object_get(f, "past"), "nothing has been watched yet\n", a, out);
    strbuf_puts(out, "\nWhat is expected:\n");
    put_list(json_object_get(f, "ahead"),
             "nothing: three days alike are needed, and two thirds of them have to agree\n", a, out);
    put_use(f, out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *hours = args_value(args, OPT_HOURS, HOURS_TEXT);
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);
    char *end;

    if (code != EXIT_DONE)
        return code;
    errno = 0;
    long long n = strtoll(hours, &end, 10);
    if (errno != 0 || end == hours || *end != '\0' || n < 1 || n > HOURS_MAX) {
        cli_error("--hours: \"%s\" is wrong, expected a whole number from 1 to %d", hours, HOURS_MAX);
        return EXIT_WRONG;
    }
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:I}", "command", "forecast", "hours", (json_int_t)n), "forecast",
                       show, a, out);
}

const struct verb verb_forecast = {
    .name = "forecast",
    .summary = "What all VMs together were expected to want, what came, and what is expected next.",
    .more =
        "By quarters of an hour, the highest mean of 5 minutes in each. DAYS: on how many of the last days "
        "alike it\n"
        "came so. WOKEN: hosts that were woken then for what was expected after it.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
