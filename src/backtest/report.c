/* report.c: how well a simulation with the settings in force agrees with what really happened. */
#include "backtest/backtest.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "render/table.h"
#include "sim/report/format.h"

#include <math.h>

struct row {
    const char *label, *key, *unit;
    double real, simulated;
    bool power; /* only where a host has a power model, or changed its power */
};

#define ROWS 9

static void make_rows(const struct recording *r, const struct simulation *s, struct row ret[ROWS])
{
    const struct recorded_figures *f = &r->real;
    const struct metrics_of_run *m = &s->metrics;
    const struct row rows[ROWS] = {
        {"migrations", "migrations", "", f->migrations, m->migrations, false},
        {"  that failed", "migrations_failed", "", f->migrations_failed, m->migrations_failed, false},
        {"  memory of the VMs that were moved", "gb_moved", "GiB", f->gb_moved, m->gb_moved, false},
        {"imbalance, mean over time", "imbalance_mean", "", f->imbalance_mean, m->imbalance_mean, false},
        {"imbalance above the target", "time_above_target_s", "s", f->time_above_target_s,
         m->time_above_target_s, false},
        {"CPU that VMs got of their entitlement", "score", "%", f->score, m->happiness_mean, false},
        {"hosts on, mean over time", "hosts_on_mean", "", f->hosts_on_mean, m->hosts_on_mean, false},
        {"hosts put to standby", "host_power_offs", "", f->host_power_offs, m->host_power_offs, true},
        {"energy", "kwh", "kWh", f->kwh, m->kwh, true},
    };

    for (int i = 0; i < ROWS; i++)
        ret[i] = rows[i];
}

static bool applies(const struct row *x)
{
    return !x->power || x->real > 0 || x->simulated > 0;
}

static void put_table(const struct row *rows, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {{.title = ""},
                                            {.title = "REALLY", .right = true},
                                            {.title = "SIMULATED", .right = true},
                                            {.title = "DIFFERENCE", .right = true}};
    struct table t = table_of(a, columns, sizeof columns / sizeof *columns);

    for (int i = 0; i < ROWS; i++) {
        if (!applies(&rows[i]))
            continue;
        const char *difference = format_difference(a, rows[i].real, rows[i].simulated, rows[i].unit);
        table_cell(&t, rows[i].label);
        table_cell(&t, format_figure(a, rows[i].real, rows[i].unit));
        table_cell(&t, format_figure(a, rows[i].simulated, rows[i].unit));
        table_cell(&t, difference ? difference : "-");
    }
    table_render(&t, "", out);
}

void backtest_text(const struct recording *r, const struct simulation *s, const struct backtest_notes *notes,
                   struct arena *a, struct strbuf *out)
{
    struct row rows[ROWS];
    char from[RFC3339_MAX];
    char until[RFC3339_MAX];

    make_rows(r, s, rows);
    table_put_wrapped(out,
                      arena_printf(a,
                                   "From %s (pass %llu) until %s: what really happened, and the simulation "
                                   "with the settings that were in force. The closer these two are, the more "
                                   "a comparison of settings says.",
                                   rfc3339_format(r->from, from), (unsigned long long)r->pass,
                                   rfc3339_format(r->until, until)),
                      0);
    put_table(rows, a, out);
    strbuf_puts(out, "Not repeated, or taken to be simpler than it was:\n");
    for (size_t i = 0; i < notes->n; i++) {
        strbuf_puts(out, "-");
        table_put_hanging(out, notes->items[i], 1, 2);
    }
    strbuf_puts(out, "\n");
}

void backtest_json(const struct recording *r, const struct run_set *a, const struct run_set *b,
                   const struct backtest_notes *notes, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf inner = STRBUF_EMPTY;
    struct row rows[ROWS];
    struct json_writer w = {.out = out};

    make_rows(r, &a->runs[0], rows);
    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-backtest/1");
    jw_instant(&w, "from", r->from);
    jw_instant(&w, "until", r->until);
    jw_int(&w, "pass", (int64_t)r->pass);
    jw_begin(&w, "agreement", JW_OBJECT, JW_LINES);
    for (int i = 0; i < ROWS; i++) {
        jw_begin(&w, rows[i].key, JW_OBJECT, JW_INLINE);
        jw_figure(&w, "really", rows[i].real);
        jw_figure(&w, "simulated", rows[i].simulated);
        jw_end(&w);
    }
    jw_end(&w);
    jw_texts(&w, "not_repeated", notes->items, notes->n, JW_LINES);
    report_json(a, &inner);
    jw_raw(&w, "as_set", inner.text);
    strbuf_clear(&inner);
    if (b)
        report_json(b, &inner);
    jw_raw(&w, "changed", b ? inner.text : "null");
    jw_end(&w);
    strbuf_puts(out, "\n");
}
