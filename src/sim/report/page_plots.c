/* page_plots.c: the plots of the page, in the order in which an admin asks for them. */
#include "sim/report/page.h"

#include <math.h>
#include <stdlib.h>

#define J_PER_KWH 3.6e6
#define BARS_MAX 288.0 /* passes of a day; more are merged */

/* ---- curves of a run ------------------------------------------------------------------------- */

static const double *times(const struct page *p, const struct simulation *s)
{
    double *t = arena_array(p->a, double, s->n_series);

    for (size_t i = 0; i < s->n_series; i++)
        t[i] = s->series[i].t_s;
    return t;
}

typedef double (*figure_fn)(const struct series_point *point, uint32_t ix);

static double imbalance(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->imbalance;
}

static double target(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->target;
}

static double watts(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->watts;
}

static double kwh(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->kwh;
}

static double hosts_on(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->hosts_on;
}

static double happiness(const struct series_point *point, uint32_t ix)
{
    (void)ix;
    return point->happiness_mean;
}

static double pool_happiness(const struct series_point *point, uint32_t ix)
{
    return point->pool_happiness ? point->pool_happiness[ix] : NAN;
}

static double wanted(const struct series_point *point, uint32_t ix)
{
    return point->wanted[ix];
}

static double delivered(const struct series_point *point, uint32_t ix)
{
    return point->delivered[ix];
}

static struct curve curve_of(const struct page *p, const struct simulation *s, const char *name, figure_fn of,
                             uint32_t ix)
{
    double *v = arena_array(p->a, double, s->n_series);

    for (size_t i = 0; i < s->n_series; i++)
        v[i] = of(&s->series[i], ix);
    return (struct curve){.name = name, .t = times(p, s), .v = v, .n = s->n_series};
}

static const char *name_of(const struct page *p, size_t set)
{
    return p->n == 1 ? "" : set == 0 ? "A" : "B";
}

/* "CPU load of hosts", or "A: CPU load of hosts". */
static const char *title_of(const struct page *p, size_t set, const char *title)
{
    return p->n == 1 ? title : arena_printf(p->a, "%s: %s", name_of(p, set), title);
}

static const struct simulation *run_of(const struct page *p, size_t set)
{
    return p->sets[set]->runs;
}

/* One plot for each run, side by side if there is room. */
static void put_each(const struct page *p, void (*put)(const struct page *p, size_t set))
{
    strbuf_puts(p->out, p->n == 2 ? "<div class=\"pair\">\n" : "");
    for (size_t set = 0; set < p->n; set++)
        put(p, set);
    strbuf_puts(p->out, p->n == 2 ? "</div>\n" : "");
}

/* ---- both runs in one plot ------------------------------------------------------------------- */

#define CURVES_MAX 3

static void put_together(const struct page *p, struct chart chart, const char *alone, figure_fn of,
                         enum curve_kind kind, const struct curve *line)
{
    struct curve curves[CURVES_MAX];
    size_t n = 0;

    for (size_t set = 0; set < p->n; set++) {
        curves[n] = curve_of(p, run_of(p, set), p->n == 1 ? alone : name_of(p, set), of, 0);
        curves[n].kind = kind;
        curves[n].style = (unsigned)set;
        n++;
    }
    if (line)
        curves[n++] = *line;
    chart.curves = curves;
    chart.n_curves = n;
    chart_put(&chart, &p->axis, p->a, p->out);
}

static const struct chart plain = {.low = NAN, .high = NAN, .unit = ""};

static struct chart titled(const char *title, const char *about, const char *unit)
{
    struct chart c = plain;

    c.title = title;
    c.about = about;
    c.unit = unit;
    return c;
}

static void put_imbalance(const struct page *p)
{
    struct curve line = curve_of(p, run_of(p, 0), "target", target, 0);

    line.kind = CURVE_DASHED;
    line.style = 6;
    put_together(
        p,
        titled("Imbalance", "How unevenly hosts are loaded; below the target nothing needs to be moved.", ""),
        "imbalance", imbalance, CURVE_LINE, &line);
}

/* "All on" is a total; its power is the mean. */
static void put_power(const struct page *p)
{
    const struct simulation *s = run_of(p, 0);
    double mean_w = s->metrics.kwh_all_on * J_PER_KWH / s->duration_s;
    const double t[] = {p->axis.from_s, p->axis.to_s};
    const double v[] = {mean_w, mean_w};
    struct curve line = {"mean, were all hosts on", CURVE_DASHED, 6, t, v, NULL, 2};

    if (!metric_has_power_model(s->scenario))
        return;
    put_together(p, titled("Power", "Of all hosts, boots and standby included.", "W"), "power", watts,
                 CURVE_LINE, isfinite(mean_w) ? &line : NULL);
    struct chart energy = titled("Energy", "Used so far.", "kWh");
    energy.sums = true;
    put_together(p, energy, "energy", kwh, CURVE_LINE, NULL);
}

static void put_hosts_on(const struct page *p)
{
    struct chart c = titled("Hosts on", "That can run VMs.", "");

    uint32_t most = 0;

    for (size_t k = 0; k < p->n; k++) { /* the other run may have more of them */
        uint32_t n = run_of(p, k)->scenario->initial.n_hosts;
        most = n > most ? n : most;
    }
    c.high = axis_count_up(most);
    put_together(p, c, "hosts on", hosts_on, CURVE_STEPS, NULL);
}

/* ---- one plot for each run ------------------------------------------------------------------- */

static void put_wanted(const struct page *p, size_t set, enum resource r, const char *title, const char *unit)
{
    const struct simulation *s = run_of(p, set);
    struct curve curves[] = {curve_of(p, s, "wanted", wanted, r), curve_of(p, s, "delivered", delivered, r)};
    struct chart c = titled(title_of(p, set, title),
                            "By all VMs together. Where the lines part, somebody goes short.", unit);
    double most = 0;

    for (size_t k = 0; k < p->n; k++) { /* one range for both runs */
        const struct simulation *other = run_of(p, k);
        for (size_t i = 0; i < other->n_series; i++)
            most = fmax(most, other->series[i].wanted[r]);
    }
    curves[0].style = 1;
    curves[0].kind = CURVE_DASHED;
    c.high = axis_round_up(most);
    c.curves = curves;
    c.n_curves = 2;
    chart_put(&c, &p->axis, p->a, p->out);
}

static void put_wanted_cpu(const struct page *p, size_t set)
{
    put_wanted(p, set, RES_CPU, "CPU wanted and delivered", "MHz");
}

static void put_wanted_mem(const struct page *p, size_t set)
{
    put_wanted(p, set, RES_MEM, "Memory wanted and delivered", "MiB");
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Migrations started in periods of one pass or, if passes are too many to distinguish, several. */
static struct curve moves_of(const struct page *p, const struct simulation *s, double period_s)
{
    size_t n = (size_t)ceil((p->axis.to_s - p->axis.from_s) / period_s);
    double *t = arena_array(p->a, double, n);
    double *v = arena_array(p->a, double, n);

    for (size_t i = 0; i < n; i++)
        t[i] = p->axis.from_s + period_s * (double)(i + 1);
    for (size_t i = 0; i < s->n_passes; i++) {
        double at = (s->passes[i].t_s - p->axis.from_s) / period_s;
        if (at >= 0 && (size_t)at < n)
            v[(size_t)at] += s->passes[i].begun;
    }
    return (struct curve){.name = "moves", .t = t, .v = v, .n = n};
}

static double period_of(const struct page *p)
{
    double interval_s = fmax(1, (double)run_of(p, 0)->scenario->policy.interval_s);
    double span_s = p->axis.to_s - p->axis.from_s;

    return interval_s * fmax(1, ceil(span_s / interval_s / BARS_MAX));
}

static void put_moves(const struct page *p, size_t set)
{
    double period_s = period_of(p);
    double interval_s = fmax(1, (double)run_of(p, set)->scenario->policy.interval_s);
    struct curve c = moves_of(p, run_of(p, set), period_s);
    struct chart chart =
        titled(title_of(p, set, period_s <= interval_s ? "Migrations begun per pass" : "Migrations begun"),
               arena_printf(p->a, "A bar is %s.", format_figure(p->a, period_s, "s")), "");
    double most = 0;

    for (size_t k = 0; k < p->n; k++) {
        struct curve other = moves_of(p, run_of(p, k), period_s);
        for (size_t i = 0; i < other.n; i++)
            most = fmax(most, other.v[i]);
    }
    c.style = (unsigned)set;
    chart.high = axis_count_up(most);
    chart.curves = &c;
    chart.n_curves = 1;
    chart.bars = true;
    chart.bar_s = period_s;
    chart_put(&chart, &p->axis, p->a, p->out);
}

/* ---- happiness ------------------------------------------------------------------------------- */

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
static size_t choose_pools(const struct page *p, uint32_t ret[CURVE_STYLES])
{
    const struct simulation *s = run_of(p, 0);
    struct ranked *list = arena_array(p->a, struct ranked, s->n_pools);
    size_t n = 0;

    for (uint32_t i = 0; i < s->n_pools; i++)
        list[i] = (struct ranked){i, isfinite(s->pools[i].happiness_least) ? s->pools[i].happiness_least
                                                                           : INFINITY};
    qsort(list, s->n_pools, sizeof *list, by_happiness);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        for (uint32_t k = 0; k < s->n_pools && k < CURVE_STYLES; k++) {
            if (list[k].pool == i)
                ret[n++] = i;
        }
    }
    return n;
}

/* The lower end of the axis: round quarters up to 100. */
static double happiness_from(double least)
{
    static const double from[] = {96, 92, 80, 60, 20};

    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        if (least >= from[i])
            return from[i];
    }
    return 0;
}

static void put_happiness(const struct page *p, size_t set)
{
    const struct simulation *s = run_of(p, set);
    struct curve curves[CURVE_STYLES];
    uint32_t pools[CURVE_STYLES];
    size_t n = choose_pools(p, pools);
    struct chart c =
        titled(title_of(p, set, n > 0 ? "CPU got of the entitlement, by pool" : "CPU got of the entitlement"),
               n < s->n_pools ? "What VMs got of the CPU that they were entitled to; the pools that "
                                "are worst off."
                              : "What VMs got of the CPU that they were entitled to.",
               "%");
    double least = 100;

    for (size_t i = 0; i < n; i++) {
        curves[i] = curve_of(p, s, s->pools[pools[i]].name, pool_happiness, pools[i]);
        curves[i].style = (unsigned)i;
    }
    if (n == 0)
        curves[n++] = curve_of(p, s, "all VMs", happiness, 0);
    for (size_t k = 0; k < p->n; k++) {
        for (size_t i = 0; i < n; i++) {
            struct curve other = s->n_pools > 0 ? curve_of(p, run_of(p, k), "", pool_happiness, pools[i])
                                                : curve_of(p, run_of(p, k), "", happiness, 0);
            for (size_t at = 0; at < other.n; at++)
                least = fmin(least, other.v[at]); /* fmin() ignores NAN */
        }
    }
    c.low = happiness_from(least);
    c.high = 100;
    c.curves = curves;
    c.n_curves = n;
    chart_put(&c, &p->axis, p->a, p->out);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

struct host_map {
    const struct simulation *s;
    enum resource r;
};

static const char *host_name(const void *ctx, uint32_t row)
{
    const struct host_map *m = ctx;

    return m->s->scenario->initial.hosts[row].is.name;
}

static double host_load(const void *ctx, uint32_t row, size_t i)
{
    const struct host_map *m = ctx;

    return m->s->series[i].host_load[m->r][row];
}

static bool has_hosts(const struct simulation *s)
{
    return s->n_series > 0 && s->series[0].host_load[RES_CPU] && s->series[0].host_load[RES_MEM];
}

/* Of the hosts that are on. */
static void fill_band(const struct host_map *m, size_t i, double *sorted, double *low, double *middle,
                      double *high)
{
    uint32_t n_hosts = m->s->scenario->initial.n_hosts;
    size_t n = 0;

    for (uint32_t h = 0; h < n_hosts; h++) {
        double v = host_load(m, h, i);
        if (isfinite(v))
            sorted[n++] = v;
    }
    struct spread s = n > 0 ? metric_spread_of(sorted, n) : (struct spread){NAN, NAN, NAN};
    low[i] = s.least;
    middle[i] = s.median;
    high[i] = s.most;
}

static void put_band(const struct page *p, const struct host_map *m, const char *title, double most)
{
    size_t n = m->s->n_series;
    double *sorted = arena_array(p->a, double, m->s->scenario->initial.n_hosts);
    double *low = arena_array(p->a, double, n);
    double *middle = arena_array(p->a, double, n);
    double *high = arena_array(p->a, double, n);

    for (size_t i = 0; i < n; i++)
        fill_band(m, i, sorted, low, middle, high);
    const double *t = times(p, m->s);
    const struct curve curves[] = {
        {"lowest to highest", CURVE_BAND, 0, t, high, low, n},
        {"median", CURVE_LINE, 0, t, middle, NULL, n},
    };
    struct chart c =
        titled(title, "Of the hosts that are on; the closer together, the better the balance.", "");
    c.high = axis_round_up(most);
    c.curves = curves;
    c.n_curves = 2;
    chart_put(&c, &p->axis, p->a, p->out);
}

static double most_load(const struct page *p, enum resource r)
{
    double most = 1;

    for (size_t set = 0; set < p->n; set++) {
        const struct simulation *s = run_of(p, set);
        for (size_t i = 0; i < s->n_series && has_hosts(s); i++) {
            for (uint32_t h = 0; h < s->scenario->initial.n_hosts; h++)
                most = fmax(most, s->series[i].host_load[r][h]);
        }
    }
    return most;
}

static void put_load(const struct page *p, size_t set, enum resource r, const char *what)
{
    struct host_map m = {run_of(p, set), r};
    double most = most_load(p, r);

    if (!has_hosts(m.s))
        return;
    strbuf_puts(p->out, "<div>");
    put_band(p, &m, title_of(p, set, arena_printf(p->a, "%s load of hosts", what)), most);
    const struct heat map = {
        .title = title_of(p, set, arena_printf(p->a, "%s load, host by host", what)),
        .about = "What a host's VMs are entitled to, of what it has.",
        .rows = m.s->scenario->initial.n_hosts,
        .name = host_name,
        .value = host_load,
        .ctx = &m,
        .t = times(p, m.s),
        .n = m.s->n_series,
        .high = 1, /* fully loaded; an overloaded host must not darken all others */
    };
    heat_put(&map, &p->axis, p->a, p->out);
    strbuf_puts(p->out, "</div>");
}

static void put_cpu_load(const struct page *p, size_t set)
{
    put_load(p, set, RES_CPU, "CPU");
}

static void put_mem_load(const struct page *p, size_t set)
{
    put_load(p, set, RES_MEM, "Memory");
}

void page_plots(const struct page *p)
{
    if (run_of(p, 0)->n_series == 0) {
        strbuf_puts(p->out, "<p>No series was kept.</p>\n");
        return;
    }
    put_imbalance(p);
    put_each(p, put_cpu_load);
    put_each(p, put_moves);
    put_each(p, put_happiness);
    put_power(p);
    put_hosts_on(p);
    put_each(p, put_wanted_cpu);
    put_each(p, put_wanted_mem);
    put_each(p, put_mem_load);
}
