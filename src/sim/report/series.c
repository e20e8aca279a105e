/* series.c: the points of a run as CSV. */
#include "base/cleanup.h"
#include "base/csv.h"
#include "base/rfc3339.h"
#include "sim/report/report.h"

#include <math.h>

static void put_name(struct strbuf *out, const char *prefix, const char *name)
{
    CLEANUP(strbuf_releasep) struct strbuf whole = STRBUF_EMPTY;

    strbuf_printf(&whole, "%s%s", prefix, name);
    strbuf_puts(out, ",");
    csv_put_text(out, whole.text);
}

static void put_value(struct strbuf *out, double v)
{
    if (isfinite(v))
        strbuf_printf(out, ",%.6g", v + 0.0); /* no negative zero */
    else
        strbuf_puts(out, ",");
}

static const char *const general[] = {
    "time",
    "imbalance",
    "imbalance_cpu",
    "imbalance_mem",
    "target",
    "load_max_cpu",
    "load_max_mem",
    "hosts_on",
    "migrations_running",
    "migrations",
    "watts",
    "kwh",
    "wanted_cpu_mhz",
    "delivered_cpu_mhz",
    "wanted_mem_mb",
    "delivered_mem_mb",
    "happiness_mean",
    "happy_share",
};

static bool has_hosts(const struct simulation *s)
{
    return s->n_series > 0 && s->series[0].host_load[RES_CPU];
}

static void put_columns(const struct simulation *s, struct strbuf *out)
{
    strbuf_puts(out, "t_s");
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        strbuf_printf(out, ",%s", general[i]);
    for (uint32_t p = 0; p < s->n_pools; p++) {
        put_name(out, "happiness of ", s->pools[p].name);
        put_name(out, "happy share of ", s->pools[p].name);
    }
    for (uint32_t h = 0; has_hosts(s) && h < s->scenario->initial.n_hosts; h++) {
        const char *name = s->scenario->initial.hosts[h].is.name;
        put_name(out, "cpu load of ", name);
        put_name(out, "mem load of ", name);
        put_name(out, "watts of ", name);
    }
    strbuf_puts(out, "\n");
}

static void put_pools_and_hosts(const struct simulation *s, const struct series_point *p, struct strbuf *out)
{
    for (uint32_t i = 0; i < s->n_pools; i++) {
        put_value(out, p->pool_happiness ? p->pool_happiness[i] : NAN);
        put_value(out, p->pool_happy ? p->pool_happy[i] : NAN);
    }
    for (uint32_t h = 0; has_hosts(s) && h < s->scenario->initial.n_hosts; h++) {
        put_value(out, p->host_load[RES_CPU] ? p->host_load[RES_CPU][h] : NAN);
        put_value(out, p->host_load[RES_MEM] ? p->host_load[RES_MEM][h] : NAN);
        put_value(out, p->host_watts ? p->host_watts[h] : NAN);
    }
}

static void put_point(const struct simulation *s, const struct series_point *p, struct strbuf *out)
{
    char time[RFC3339_MAX];
    const double first[] = {
        p->imbalance, p->imbalance_of[RES_CPU], p->imbalance_of[RES_MEM],
        p->target,    p->load_max[RES_CPU],     p->load_max[RES_MEM],
    };
    const double second[] = {
        p->watts,           p->kwh,
        p->wanted[RES_CPU], p->delivered[RES_CPU],
        p->wanted[RES_MEM], p->delivered[RES_MEM],
        p->happiness_mean,  p->happy_share,
    };

    strbuf_printf(out, "%.10g,%s", p->t_s, rfc3339_format(s->scenario->start + (instant_s)p->t_s, time));
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        put_value(out, first[i]);
    strbuf_printf(out, ",%u,%u,%u", p->hosts_on, p->migrations_running, p->migrations);
    for (size_t i = 0; i < sizeof second / sizeof *second; i++)
        put_value(out, second[i]);
    put_pools_and_hosts(s, p, out);
    strbuf_puts(out, "\n");
}

static void put_run(const struct simulation *s, const char *run, struct strbuf *out)
{
    for (size_t i = 0; i < s->n_series; i++) {
        strbuf_puts(out, run);
        put_point(s, &s->series[i], out);
    }
}

void report_series_csv(const struct simulation *a, const struct simulation *b, struct strbuf *out)
{
    strbuf_puts(out, b ? "run," : "");
    put_columns(a, out);
    put_run(a, b ? "A," : "", out);
    if (b)
        put_run(b, "B,", out);
}
