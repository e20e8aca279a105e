/* ballast history --energy: energy used and saved, and CPU that VMs lacked. */
#include "cli/history_energy.h"

#include "base/rfc3339.h"
#include "cli/client.h"
#include "cli/input.h"
#include "render/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAYS_DEFAULT "7"
#define DAYS_MAX 3650
#define DAY_S 86400
#define S_PER_H 3600.0
#define MHZ_S_PER_GHZ_H (1000 * S_PER_H)
#define MB_S_PER_GIB_H (1024 * S_PER_H)
#define KWH_DECIMALS 2
#define DATE_LENGTH 10 /* of 2026-01-31 ... */
#define HOUR_LENGTH 16 /* ... and of 2026-01-31T07:00 */

/* A share follows its figure without a column title, to fit into 80 columns. */
static const struct column columns[] = {
    {"", .host = true}, {"USED KWH", true}, {"ALL ON", true},      {"SAVED", true},
    {"", true},         {"ASLEEP", true},   {"UNMET GHZ H", true}, {"", true},
};

/* Shows 0 instead of "-0.00". */
static double shown(double v, int decimals)
{
    return fabs(v) < 0.5 * pow(10, -decimals) ? 0 : v;
}

static void put_percent(struct table *t, double percent, int decimals)
{
    if (isnan(percent))
        table_cell(t, NULL);
    else
        table_cellf(t, "%.*f %%", decimals, shown(percent, decimals));
}

static double share(const json_t *row, const char *part)
{
    double host_s = reply_number(row, "host_s");

    return host_s > 0 ? 100 * reply_number(row, part) / host_s : UNKNOWN;
}

static void put_kwh(struct table *t, double kwh)
{
    table_cellf(t, "%.*f", KWH_DECIMALS, shown(kwh, KWH_DECIMALS));
}

static void put_row(struct table *t, const char *name, const json_t *row)
{
    bool nothing = !(reply_number(row, "host_s") > reply_number(row, "unknown_s"));

    table_cell(t, name);
    if (nothing) { /* not known: 0 kWh would be wrong */
        for (int i = 0; i < 4; i++)
            table_cell(t, NULL);
    } else {
        put_kwh(t, reply_number(row, "used_kwh"));
        put_kwh(t, reply_number(row, "all_on_kwh"));
        put_kwh(t, reply_number(row, "saved_kwh"));
        put_percent(t, reply_number(row, "saved_percent"), 1);
    }
    put_percent(t, share(row, "asleep_s"), 0);
    table_cellf(t, "%.2f", reply_number(row, "unmet_mhz_s") / MHZ_S_PER_GHZ_H);
    put_percent(t, reply_number(row, "unmet_percent"), 2);
}

/* A day as its date, an hour as its begin, both in UTC: "2026-01-31 07:00". */
static const char *name_of(const json_t *row, struct arena *a)
{
    const char *time = reply_text(row, "time");
    const char *host = reply_text(row, "host_name");

    if (!time)
        return host ? host : reply_text(row, "host");
    if (reply_int(row, "length_s") >= DAY_S || strlen(time) < HOUR_LENGTH)
        return arena_printf(a, "%.*s", DATE_LENGTH, time);
    return arena_printf(a, "%.*s %.*s", DATE_LENGTH, time, HOUR_LENGTH - DATE_LENGTH - 1,
                        time + DATE_LENGTH + 1);
}

/* The gaps in the figures. */
static void show_gaps(const json_t *energy, struct arena *a, struct strbuf *out)
{
    const json_t *hosts = json_object_get(energy, "hosts_without_figures");
    const json_t *total = json_object_get(energy, "total");
    double unaccounted_s = reply_number(energy, "unaccounted_s");
    double unmet_mb_s = reply_number(total, "unmet_mb_s");
    const json_t *host;
    size_t i;

    if (share(total, "measured_s") < 100) /* percent; UNKNOWN compares as false */
        strbuf_printf(out, "metered: %.0f %% of the host time; the rest is from power models\n",
                      share(total, "measured_s"));
    if (unmet_mb_s > 0)
        strbuf_printf(out, "memory that VMs lacked: %.2f GiB h\n", unmet_mb_s / MB_S_PER_GIB_H);
    if (unaccounted_s >= 1)
        strbuf_printf(out, "not covered: %.2f h in which the cluster was not read\n",
                      unaccounted_s / S_PER_H);
    if (reply_number(total, "unknown_s") > 0)
        strbuf_printf(out, "not counted: %.2f host hours with unknown power draw\n",
                      reply_number(total, "unknown_s") / S_PER_H);
    const char *names = "";

    json_array_foreach(hosts, i, host) names =
        arena_printf(a, "%s%s%s", names, i > 0 ? ", " : "", json_string_value(host));
    if (i > 0)
        table_put_wrapped(
            out, arena_printf(a, "hosts without power model (power.hosts.NAME.watts) and meter: %s", names),
            0);
    if (reply_int(energy, "asleep_as_nothing") > 0)
        strbuf_printf(out, "hosts in standby with unknown power draw, counted as 0 W: %lld\n",
                      (long long)reply_int(energy, "asleep_as_nothing"));
}

static void show_energy(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *energy = json_object_get(reply, "energy");
    const json_t *row;
    struct table t = table_of(a, columns, COUNT_OF(columns));
    size_t i;

    t.domain = reply_text(reply, "host_domain");
    json_array_foreach(json_object_get(energy, "rows"), i, row) put_row(&t, name_of(row, a), row);
    if (i == 0)
        return;
    put_row(&t, "total", json_object_get(energy, "total"));
    table_render(&t, "", out);
    strbuf_printf(out, "\n%s to %s\n", reply_or_dash(energy, "from"), reply_or_dash(energy, "until"));
    show_gaps(energy, a, out);
}

/* Today and the days before it, in UTC. */
static enum exit_code read_days(const char *text, instant_s *ret)
{
    const instant_s now = (instant_s)time(NULL);
    unsigned long long n = 1;
    enum exit_code code = cli_parse_number("days", text, 1, DAYS_MAX, &n);

    *ret = now - now % DAY_S - (instant_s)(n - 1) * DAY_S;
    return code;
}

enum exit_code history_energy(const struct args *args, const struct energy_question *q, struct arena *a,
                              struct strbuf *out)
{
    const char *by = q->by ? q->by : "day";
    char since[RFC3339_MAX];
    instant_s from = 0;

    if (q->since && q->days)
        return cli_fail(EXIT_WRONG, "ballast history: give --since or --days, not both");
    enum exit_code code = q->since ? cli_parse_time("since", q->since, &from)
                                   : read_days(q->days ? q->days : DAYS_DEFAULT, &from);
    if (code != EXIT_DONE)
        return code;
    code = client_show(
        args,
        json_pack("{s:s, s:s, s:s}", "command", "energy", "since", rfc3339_format(from, since), "by", by),
        "energy", show_energy, a, out);
    if (code == EXIT_DONE && out->len == 0)
        cli_put_none(args, "energy data", "no energy data yet", out);
    return code;
}
