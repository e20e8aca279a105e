/* reply_energy.c: the energy account as JSON. engine/knowledge/energy_account.h defines the figures. */
#include "daemon/replies/replies.h"

#include "base/order.h"

#include "base/cleanup.h"
#include "base/natural.h"
#include "daemon/replies/action_json.h"
#include "engine/knowledge/energy_account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WH_PER_KWH 1000
#define SINCE_DAYS 7 /* by default */

/* ---- now ------------------------------------------------------------------------------------- */

void reply_energy_put_power(struct json_writer *w, const struct engine *e)
{
    struct engine_power p;

    engine_power(e, &p);
    if (!jw_begin_known(w, "power", p.hosts > 0))
        return;
    jw_figure(w, "watts", p.watts);
    jw_figure(w, "all_on_w", p.all_on_w);
    jw_int(w, "hosts", p.hosts);
    jw_int(w, "hosts_measured", p.measured);
    jw_int(w, "hosts_unknown", p.unknown);
    jw_figure(w, "unmet_mhz", p.unmet[RES_CPU]);
    jw_figure(w, "unmet_mb", p.unmet[RES_MEM]);
    jw_end(w);
}

/* ---- the account ----------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : UNKNOWN;
}

void reply_energy_put_figures(struct json_writer *w, const struct energy_record *r)
{
    double saved = r->all_on_wh - r->used_wh;

    jw_figure(w, "used_kwh", r->used_wh / WH_PER_KWH);
    jw_figure(w, "all_on_kwh", r->all_on_wh / WH_PER_KWH);
    jw_figure(w, "saved_kwh", saved / WH_PER_KWH);
    jw_figure(w, "saved_percent", percent(saved, r->all_on_wh));
    jw_figure(w, "accounted_s", r->span_s);
    jw_figure(w, "host_s", r->host_s);
    jw_figure(w, "asleep_s", r->asleep_s);
    jw_figure(w, "measured_s", r->measured_s);
    jw_figure(w, "unknown_s", r->unknown_s);
    jw_figure(w, "wanted_mhz_s", r->wanted[RES_CPU]);
    jw_figure(w, "unmet_mhz_s", r->unmet[RES_CPU]);
    jw_figure(w, "unmet_percent", percent(r->unmet[RES_CPU], r->wanted[RES_CPU]));
    jw_figure(w, "wanted_mb_s", r->wanted[RES_MEM]);
    jw_figure(w, "unmet_mb_s", r->unmet[RES_MEM]);
}

static void put_row(struct json_writer *w, const struct engine *e, const struct energy_record *r, bool host)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    if (host) {
        jw_text(w, "host", r->host);
        jw_text(w, "host_name", snapshot_host_name(engine_snapshot(e), r->host));
    } else {
        jw_instant(w, "time", r->time);
        jw_int(w, "length_s", r->length_s);
    }
    reply_energy_put_figures(w, r);
    jw_end(w);
}

/* Merges rows that begin within one period. Old rows may be days although hours are requested. */
static size_t fold(struct energy_record *list, size_t n, instant_s length_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct energy_record r = list[i];

        r.length_s = r.length_s > length_s ? r.length_s : length_s;
        r.time -= r.time % r.length_s;
        if (kept == 0 || list[kept - 1].time != r.time) {
            list[kept++] = r;
            continue;
        }
        energy_account_add(&list[kept - 1], &r);
        list[kept - 1].length_s = r.length_s;
    }
    return kept;
}

static int compare_hosts(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct energy_record *x = a;
    const struct energy_record *y = b;

    return natural_compare(snapshot_host_name(s, x->host), snapshot_host_name(s, y->host));
}

/* Hosts without a known power while they are on, by name. */
static void put_unknown(struct json_writer *w, const struct snapshot *s, struct arena *a)
{
    const char **names = arena_array(a, const char *, s ? (size_t)s->n_hosts + 1 : 1);
    uint32_t n = 0;
    uint32_t asleep = 0;

    for (uint32_t i = 0; s && i < s->n_hosts; i++) {
        const struct host_facts *f = &s->hosts[i].is;

        if ((isnan(f->power_idle_w) || isnan(f->power_peak_w)) && isnan(f->power_w))
            names[n++] = f->name;
        asleep += f->state == HOST_STANDBY && isnan(f->power_standby_w) && isnan(f->power_w) ? 1 : 0;
    }
    qsort(names, n, sizeof *names, order_names);
    jw_texts(w, "hosts_without_figures", names, n, JW_INLINE);
    jw_int(w, "asleep_as_nothing", asleep);
}

instant_s reply_energy_first_instant(const struct energy_record *list, size_t n)
{
    return n > 0 ? list[0].until - (instant_s)ceil(list[0].span_s) : 0;
}

int reply_energy_put(struct json_writer *w, const struct engine *e, const struct store_ops *ops,
                     struct store *store, const struct request *q, instant_s now, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    instant_s since = q->since != 0 ? q->since : now - SINCE_DAYS * ENERGY_DAY_S;
    struct records cluster = {0};
    struct records hosts = {0};
    struct energy_record total = {.host = ""};
    int r = ops->list(store, QUERY_ENERGY, since, &a, &cluster, err);

    if (r == 0 && q->by == ENERGY_BY_HOST)
        r = ops->list(store, QUERY_HOST_ENERGY, since, &a, &hosts, err);
    if (r < 0)
        return r;
    struct energy_record *all = cluster.energy;
    struct energy_record *rows = hosts.energy;
    size_t n_all = cluster.n;
    size_t n = hosts.n;
    instant_s from = reply_energy_first_instant(all, n_all);

    for (size_t i = 0; i < n_all; i++)
        energy_account_add(&total, &all[i]);
    if (q->by != ENERGY_BY_HOST) {
        rows = all;
        n = fold(all, n_all, q->by == ENERGY_BY_DAY ? ENERGY_DAY_S : ENERGY_HOUR_S);
    } else if (n > 0) {
        qsort_r(rows, n, sizeof *rows, compare_hosts, (void *)engine_snapshot(e));
    }
    jw_begin(w, "energy", JW_OBJECT, JW_INLINE);
    jw_text(w, "by", energy_by_name(q->by));
    jw_instant(w, "from", from);
    jw_instant(w, "until", total.until);
    jw_figure(w, "unaccounted_s", n_all > 0 ? fmax(0, (double)(total.until - from) - total.span_s) : 0);
    put_unknown(w, engine_snapshot(e), &a);
    jw_begin(w, "rows", JW_ARRAY, JW_INLINE);
    size_t first = q->offset < n ? (size_t)q->offset : n;
    size_t end = q->limit > 0 && q->limit < n - first ? first + q->limit : n;

    for (size_t i = first; i < end; i++)
        put_row(w, e, &rows[i], q->by == ENERGY_BY_HOST);
    jw_end(w);
    jw_begin(w, "total", JW_OBJECT, JW_INLINE);
    reply_energy_put_figures(w, &total);
    jw_end(w);
    jw_end(w);
    reply_page_put_next(w, end < n, "offset", end);
    return 0;
}
