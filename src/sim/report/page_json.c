/* page_json.c: the data of the drawn page, ballast-report/1. Nothing is drawn here: figures over time are
 * reduced to what a screen can show, with the mean, the last value and some exact ones of all samples beside
 * them. */
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "sim/report/downsample.h"
#include "sim/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define J_PER_KWH 3.6e6
#define BUCKETS 360     /* time buckets of a curve */
#define TABLE_ROWS 24   /* of a plot's table, as in dashboard/src/charts/curves.ts */
#define BARS_MAX 288.0  /* passes of a day; more are merged */
#define POOLS_MAX 8     /* curves in one plot */
#define CELLS_MAX 90000 /* of one map; 180 KB in the page */
#define LINES_MAX 400
#define COLUMNS_MAX 360
#define CELL_UNKNOWN 0xff
#define CELL_MOST 0xfe

/* What the functions below share while the series of one run are written. */
struct series_writer {
    const struct page *p;
    const struct simulation *s;
    struct json_writer *w;
    struct downsample kept;
    double from_s, to_s; /* of the page */
    double *v, *reduced; /* a value for each sample; for each kept point */
    struct strbuf *list; /* scratch */
};

static void put_numbers(struct series_writer *sw, const char *key, const double *v, size_t n,
                        const char *format)
{
    strbuf_clear(sw->list);
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(sw->list, i == 0 ? "[" : ",");
        if (isfinite(v[i]))
            strbuf_printf(sw->list, format, v[i] + 0.0); /* no negative zero */
        else
            strbuf_puts(sw->list, "null");
    }
    strbuf_puts(sw->list, n == 0 ? "[]" : "]");
    jw_raw(sw->w, key, sw->list->text);
}

#define ROUGHLY "%.5g" /* finer than a pixel */
#define TIME "%.10g"

/* ---- curves ---------------------------------------------------------------------------------- */

/* The last value up to each time of a plot's table. */
static void fill_table(const struct series_writer *sw, double ret[TABLE_ROWS + 1])
{
    size_t i = 0;

    for (size_t row = 0; row <= TABLE_ROWS; row++) {
        double t_s = sw->from_s + (sw->to_s - sw->from_s) * (double)row / TABLE_ROWS;
        while (i < sw->s->n_series && sw->s->series[i].t_s <= t_s)
            i++;
        ret[row] = i > 0 ? sw->v[i - 1] : NAN;
    }
}

/* Of sw->v. */
static void put_curve(struct series_writer *sw, const char *key)
{
    double table[TABLE_ROWS + 1];
    double sum = 0;
    double last = NAN;
    size_t known = 0;

    for (size_t i = 0; i < sw->s->n_series; i++) {
        if (!isfinite(sw->v[i]))
            continue;
        sum += sw->v[i];
        last = sw->v[i];
        known++;
    }
    fill_table(sw, table);
    downsample_reduce(&sw->kept, sw->v, sw->reduced);
    jw_begin(sw->w, key, JW_OBJECT, JW_INLINE);
    jw_figure(sw->w, "mean", known > 0 ? sum / (double)known : NAN);
    jw_figure(sw->w, "last", last);
    put_numbers(sw, "at", table, TABLE_ROWS + 1, ROUGHLY);
    put_numbers(sw, "v", sw->reduced, sw->kept.n_kept, ROUGHLY);
    jw_end(sw->w);
}

/* name in the JSON, member of the point. */
#define CURVES(X)                                                                                            \
    X("imbalance", imbalance)                                                                                \
    X("target", target)                                                                                      \
    X("watts", watts)                                                                                        \
    X("kwh", kwh)                                                                                            \
    X("hosts_on", hosts_on)                                                                                  \
    X("happiness", happiness_mean)                                                                           \
    X("wanted_cpu", wanted[RES_CPU])                                                                         \
    X("delivered_cpu", delivered[RES_CPU])                                                                   \
    X("wanted_mem", wanted[RES_MEM])                                                                         \
    X("delivered_mem", delivered[RES_MEM])

static void put_curves(struct series_writer *sw)
{
    jw_begin(sw->w, "curves", JW_OBJECT, JW_LINES);
#define PUT_CURVE(name, member)                                                                              \
    for (size_t i = 0; i < sw->s->n_series; i++)                                                             \
        sw->v[i] = sw->s->series[i].member;                                                                  \
    put_curve(sw, name);
    CURVES(PUT_CURVE)
#undef PUT_CURVE
    jw_end(sw->w);
}

/* ---- pools ----------------------------------------------------------------------------------- */

struct ranked {
    uint32_t pool;
    double happiness;
};

static int by_happiness(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->happiness < y->happiness || x->happiness > y->happiness)
        return x->happiness < y->happiness ? -1 : 1;
    return (x->pool > y->pool) - (x->pool < y->pool);
}

/* The pools to draw: all, or the least happy ones of the first run, in their original order. */
static size_t choose_pools(const struct page *p, uint32_t ret[POOLS_MAX])
{
    const struct simulation *s = p->sets[0]->runs;
    struct ranked *list = arena_array(p->a, struct ranked, s->n_pools);
    size_t n = 0;

    for (uint32_t i = 0; i < s->n_pools; i++)
        list[i] = (struct ranked){i, isfinite(s->pools[i].happiness_least) ? s->pools[i].happiness_least
                                                                           : INFINITY};
    qsort(list, s->n_pools, sizeof *list, by_happiness);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        for (uint32_t k = 0; k < s->n_pools && k < POOLS_MAX; k++) {
            if (list[k].pool == i)
                ret[n++] = i;
        }
    }
    return n;
}

static void put_pool(struct series_writer *sw, const char *name)
{
    const struct simulation *s = sw->s;
    uint32_t pool = 0;

    while (pool < s->n_pools && strcmp(s->pools[pool].name, name) != 0)
        pool++;
    if (pool == s->n_pools) /* the other run's scenario has no such pool */
        return;
    for (size_t i = 0; i < s->n_series; i++)
        sw->v[i] = s->series[i].pool_happiness ? s->series[i].pool_happiness[pool] : NAN;
    jw_begin(sw->w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(sw->w, "name", name);
    put_curve(sw, "happiness");
    jw_end(sw->w);
}

static void put_pools(struct series_writer *sw)
{
    uint32_t pools[POOLS_MAX];
    size_t n = choose_pools(sw->p, pools);

    jw_int(sw->w, "n_pools", sw->s->n_pools);
    jw_begin(sw->w, "pools", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < n; i++)
        put_pool(sw, sw->p->sets[0]->runs[0].pools[pools[i]].name);
    jw_end(sw->w);
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* Begun in each period; a period is one pass, or several of a long run. */
static void put_moves(struct series_writer *sw)
{
    const struct simulation *s = sw->s;
    double span_s = sw->to_s - sw->from_s;
    /* of the first run, so that the bars of both compare */
    double interval_s = fmax(1, (double)sw->p->sets[0]->runs[0].scenario->policy.interval_s);
    double period_s = interval_s * fmax(1, ceil(span_s / interval_s / BARS_MAX));
    size_t n = (size_t)ceil(span_s / period_s);
    double *begun = arena_array(sw->p->a, double, n);

    for (size_t i = 0; i < s->n_passes; i++) {
        double at = (s->passes[i].t_s - sw->from_s) / period_s;
        if (at >= 0 && (size_t)at < n)
            begun[(size_t)at] += s->passes[i].begun;
    }
    jw_begin(sw->w, "moves", JW_OBJECT, JW_INLINE);
    jw_figure(sw->w, "period_s", period_s);
    jw_bool(sw->w, "per_pass", period_s <= interval_s);
    put_numbers(sw, "begun", begun, n, ROUGHLY);
    jw_end(sw->w);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static uint32_t host_count(const struct simulation *s)
{
    return s->scenario->initial.n_hosts;
}

static bool has_hosts(const struct simulation *s)
{
    return s->n_series > 0 && host_count(s) > 0 && s->series[0].host_load[RES_CPU] &&
           s->series[0].host_load[RES_MEM];
}

/* The lowest, the median and the highest load of the hosts that are on, at each sample. */
static void put_band(struct series_writer *sw, enum resource r)
{
    size_t n = sw->s->n_series;
    double *sorted = arena_array(sw->p->a, double, host_count(sw->s));
    struct spread *spreads = arena_array(sw->p->a, struct spread, n);

    for (size_t i = 0; i < n; i++) {
        size_t on = 0;
        for (uint32_t h = 0; h < host_count(sw->s); h++) {
            double v = sw->s->series[i].host_load[r][h];
            if (isfinite(v))
                sorted[on++] = v;
        }
        spreads[i] = on > 0 ? metric_spread_of(sorted, on) : (struct spread){NAN, NAN, NAN};
    }
    for (size_t i = 0; i < n; i++)
        sw->v[i] = spreads[i].least;
    put_curve(sw, "lowest");
    for (size_t i = 0; i < n; i++)
        sw->v[i] = spreads[i].median;
    put_curve(sw, "median");
    for (size_t i = 0; i < n; i++)
        sw->v[i] = spreads[i].most;
    put_curve(sw, "highest");
}

static void put_line(struct series_writer *sw, const double *cells, size_t columns)
{
    strbuf_clear(sw->list);
    for (size_t c = 0; c < columns; c++) {
        double percent = round(100 * fmax(cells[c], 0));
        strbuf_printf(sw->list, "%02x",
                      !isfinite(cells[c])   ? CELL_UNKNOWN
                      : percent > CELL_MOST ? CELL_MOST
                                            : (unsigned)percent);
    }
    jw_text(sw->w, NULL, sw->list->text);
}

/* Fills the map, a line a host, or the highest of several: an overload must not be averaged away. */
static void fill_cells(const struct series_writer *sw, enum resource r, uint32_t hosts_a_line, size_t lines,
                       size_t columns, double *cells)
{
    const struct simulation *s = sw->s;
    size_t last = 0; /* the column of the sample before */

    for (size_t i = 0; i < lines * columns; i++)
        cells[i] = NAN;
    for (size_t i = 0; i < s->n_series; i++) {
        double at = (s->series[i].t_s - sw->from_s) / (sw->to_s - sw->from_s) * (double)columns;
        size_t column = at < 0 ? 0 : at >= (double)columns ? columns - 1 : (size_t)at;
        for (; last + 1 < column; last++) { /* samples are not quite regular: no sample is no change */
            for (size_t line = 0; line < lines; line++)
                cells[line * columns + last + 1] = cells[line * columns + last];
        }
        last = column;
        for (uint32_t h = 0; h < host_count(s); h++) {
            double *cell = &cells[h / hosts_a_line * columns + column];
            *cell = fmax(*cell, s->series[i].host_load[r][h]); /* fmax() ignores NAN */
        }
    }
}

static void put_cells(struct series_writer *sw, enum resource r)
{
    const struct simulation *s = sw->s;
    uint32_t hosts_a_line = (host_count(s) + LINES_MAX - 1) / LINES_MAX;
    size_t lines = (host_count(s) + hosts_a_line - 1) / hosts_a_line;
    size_t most = CELLS_MAX / lines < COLUMNS_MAX ? CELLS_MAX / lines : COLUMNS_MAX;
    size_t columns = s->n_series < most ? s->n_series : most;
    double *cells = arena_array(sw->p->a, double, lines *columns);

    fill_cells(sw, r, hosts_a_line, lines, columns, cells);
    jw_int(sw->w, "hosts_a_line", hosts_a_line);
    jw_begin(sw->w, "cells", JW_ARRAY, JW_LINES);
    for (size_t line = 0; line < lines; line++)
        put_line(sw, cells + line * columns, columns);
    jw_end(sw->w);
}

static void put_host_figures(struct series_writer *sw, enum resource r)
{
    uint32_t n = host_count(sw->s);
    double *mean = arena_array(sw->p->a, double, n);
    double *most = arena_array(sw->p->a, double, n);
    double *on = arena_array(sw->p->a, double, n);

    for (uint32_t h = 0; h < n; h++) {
        double known = 0;
        most[h] = NAN;
        for (size_t i = 0; i < sw->s->n_series; i++) {
            double v = sw->s->series[i].host_load[r][h];
            if (!isfinite(v))
                continue;
            mean[h] += v;
            most[h] = fmax(most[h], v);
            known++;
        }
        mean[h] = known > 0 ? mean[h] / known : NAN;
        on[h] = 100 * known / (double)sw->s->n_series;
    }
    put_numbers(sw, "mean", mean, n, ROUGHLY);
    put_numbers(sw, "most", most, n, ROUGHLY);
    put_numbers(sw, "on_percent", on, n, ROUGHLY);
}

static void put_load(struct series_writer *sw, const char *key, enum resource r)
{
    jw_begin(sw->w, key, JW_OBJECT, JW_LINES);
    put_band(sw, r);
    put_cells(sw, r);
    put_host_figures(sw, r);
    jw_end(sw->w);
}

static void put_hosts(struct series_writer *sw)
{
    if (!has_hosts(sw->s)) {
        jw_text(sw->w, "load", NULL);
        return;
    }
    jw_begin(sw->w, "load", JW_OBJECT, JW_LINES);
    put_load(sw, "cpu", RES_CPU);
    put_load(sw, "mem", RES_MEM);
    jw_end(sw->w);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void put_facts(struct series_writer *sw, size_t set)
{
    const struct simulation *s = sw->s;

    jw_text(sw->w, "name", page_set_name(sw->p, set));
    jw_begin(sw->w, "hosts", JW_ARRAY, JW_LINES);
    for (uint32_t h = 0; h < host_count(s); h++)
        jw_text(sw->w, NULL, s->scenario->initial.hosts[h].is.name);
    jw_end(sw->w);
    jw_bool(sw->w, "power_model", metric_has_power_model(s->scenario));
    jw_figure(sw->w, "all_on_w", s->metrics.kwh_all_on * J_PER_KWH / s->duration_s);
    put_numbers(sw, "t_s", sw->kept.t, sw->kept.n_kept, TIME);
}

static void put_run(const struct page *p, size_t set, struct json_writer *w, double from_s, double to_s)
{
    CLEANUP(strbuf_releasep) struct strbuf list = STRBUF_EMPTY;
    const struct simulation *s = p->sets[set]->runs;
    double *t = arena_array(p->a, double, s->n_series);
    struct series_writer sw = {.p = p, .s = s, .w = w, .from_s = from_s, .to_s = to_s, .list = &list};

    for (size_t i = 0; i < s->n_series; i++)
        t[i] = s->series[i].t_s;
    downsample_init(&sw.kept, t, s->n_series, BUCKETS, p->a);
    sw.v = arena_array(p->a, double, s->n_series);
    sw.reduced = arena_array(p->a, double, sw.kept.n_kept);
    jw_begin(w, NULL, JW_OBJECT, JW_LINES);
    put_facts(&sw, set);
    put_curves(&sw);
    put_pools(&sw);
    put_moves(&sw);
    put_hosts(&sw);
    jw_end(w);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_texts(const struct page *p, struct json_writer *w)
{
    struct page_texts texts;
    const struct page_tile *tiles;
    size_t n = page_tiles_make(p, &tiles);

    page_texts_make(p, &texts);
    jw_text(w, "title", p->sets[0]->runs[0].scenario->name);
    jw_texts(w, "about", texts.about, texts.n_about, JW_LINES);
    jw_texts(w, "notes", texts.notes, texts.n_notes, JW_LINES);
    jw_begin(w, "tiles", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "what", tiles[i].what);
        jw_text(w, "value", tiles[i].value);
        jw_text(w, "note", tiles[i].note);
        jw_end(w);
    }
    jw_end(w);
}

static void put_row(struct json_writer *w, const struct page_row *row, size_t n_cells)
{
    jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
    if (row->group)
        jw_text(w, "group", row->group);
    else {
        jw_text(w, "head", row->head);
        jw_text(w, "note", row->note);
        jw_bool(w, "differs", row->differs);
        jw_texts(w, "cells", row->cells, n_cells, JW_INLINE);
    }
    jw_end(w);
}

static void put_tables(const struct page *p, struct json_writer *w)
{
    struct page_tables tables;

    page_tables_make(p, &tables);
    jw_begin(w, "tables", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < tables.n; i++) {
        const struct page_table *t = &tables.items[i];
        jw_begin(w, NULL, JW_OBJECT, JW_LINES);
        jw_text(w, "heading", t->heading);
        jw_text(w, "caption", t->caption);
        jw_text(w, "summary", t->summary);
        jw_texts(w, "columns", t->columns, t->n_columns, JW_LINES);
        jw_begin(w, "rows", JW_ARRAY, JW_LINES);
        for (size_t r = 0; r < t->n_rows; r++)
            put_row(w, &t->rows[r], t->n_columns - 1);
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
}

/* From the first sample to the last, of all runs. */
static void find_span(const struct page *p, double *ret_from_s, double *ret_to_s)
{
    double from_s = INFINITY;
    double to_s = -INFINITY;

    for (size_t i = 0; i < p->n; i++) {
        const struct simulation *s = p->sets[i]->runs;
        from_s = fmin(from_s, s->n_series > 0 ? s->series[0].t_s : 0);
        to_s = fmax(to_s, s->n_series > 0 ? s->series[s->n_series - 1].t_s : s->scenario->duration_s);
    }
    *ret_from_s = from_s;
    *ret_to_s = to_s > from_s ? to_s : from_s + 1;
}

/* "<" could end the script element that holds the text, and U+2028 and U+2029 end a line of a script. In JSON
 * all three stand in strings only. */
static void put_escaped(const char *json, struct strbuf *out)
{
    static const struct {
        const char *text, *escaped;
    } risky[] = {{"<", "\\u003c"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}};
    size_t n;

    for (; *json; json += n) {
        size_t k = 0;
        n = strcspn(json, "<\xe2");
        strbuf_add(out, json, n);
        json += n;
        while (k < sizeof risky / sizeof *risky && strncmp(json, risky[k].text, strlen(risky[k].text)) != 0)
            k++;
        n = k < sizeof risky / sizeof *risky ? strlen(risky[k].text) : *json != '\0';
        if (k < sizeof risky / sizeof *risky)
            strbuf_puts(out, risky[k].escaped);
        else
            strbuf_add(out, json, n);
    }
}

void page_json_put(const struct page *p, struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf json = STRBUF_EMPTY;
    struct json_writer w = {.out = &json};
    double from_s;
    double to_s;

    find_span(p, &from_s, &to_s);
    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-report/1");
    put_texts(p, &w);
    jw_int(&w, "start", p->sets[0]->runs[0].scenario->start);
    jw_figure(&w, "from_s", from_s);
    jw_figure(&w, "to_s", to_s);
    jw_begin(&w, "runs", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < p->n; i++)
        put_run(p, i, &w, from_s, to_s);
    jw_end(&w);
    put_tables(p, &w);
    jw_end(&w);
    put_escaped(json.text, out);
}
