/* chart.c: draws line, bar and area charts as SVG. The map of hosts is heat.c's. */
#include "sim/report/chart.h"

#include "sim/report/downsample.h"
#include "sim/report/format.h"

#include <math.h>

#define TABLE_ROWS 24
#define TOLD_MAX 8 /* curves in the text alternative */
#define BAR_GAP 0.15

struct drawing {
    const struct chart *chart;
    const struct time_axis *axis;
    double low, high;
    struct arena *a;
    struct strbuf *out;
};

/* ---- range ----------------------------------------------------------------------------------- */

static void widen(const double *v, size_t n, double *least, double *most)
{
    for (size_t i = 0; v && i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        *least = fmin(*least, v[i]);
        *most = fmax(*most, v[i]);
    }
}

/* Mean, ends and extremes of a curve. */
struct curve_facts {
    double least, most, mean, last;
};

static struct curve_facts curve_facts(const struct curve *c)
{
    struct curve_facts t = {INFINITY, -INFINITY, 0, NAN};
    size_t known = 0;

    widen(c->v, c->n, &t.least, &t.most);
    widen(c->low, c->n, &t.least, &t.most);
    for (size_t i = 0; i < c->n; i++) {
        if (!isfinite(c->v[i]))
            continue;
        t.mean += c->v[i];
        t.last = c->v[i];
        known++;
    }
    t.mean = known > 0 ? t.mean / (double)known : NAN;
    return t;
}

static void set_range(struct drawing *d)
{
    const struct chart *c = d->chart;
    double least = INFINITY;
    double most = -INFINITY;

    for (size_t i = 0; i < c->n_curves; i++) {
        widen(c->curves[i].v, c->curves[i].n, &least, &most);
        widen(c->curves[i].low, c->curves[i].n, &least, &most);
    }
    d->low = isfinite(c->low) ? c->low : least < 0 ? -axis_round_up(-least) : 0;
    d->high = isfinite(c->high) ? c->high : axis_round_up(most);
    if (!(d->high > d->low))
        d->high = d->low + 1;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static double x_of(const struct drawing *d, double t_s)
{
    return CHART_WIDTH * axis_at(d->axis, t_s);
}

static double y_of(const struct drawing *d, double v)
{
    return CHART_HEIGHT * (1 - (v - d->low) / (d->high - d->low));
}

static void put_line(const struct drawing *d, const struct curve *c, const double *v)
{
    size_t n;
    const struct dot *dots = downsample(c->t, v, c->n, CHART_BUCKETS, d->a, &n);
    bool down = false; /* the pen */

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(dots[i].v)) {
            down = false;
            continue;
        }
        if (down && c->kind == CURVE_STEPS)
            strbuf_printf(d->out, "L%.1f,%.1f", x_of(d, dots[i].t), y_of(d, dots[i - 1].v));
        strbuf_printf(d->out, "%c%.1f,%.1f", down ? 'L' : 'M', x_of(d, dots[i].t), y_of(d, dots[i].v));
        down = true;
    }
}

/* Along the upper line, back along the lower one. */
static void put_area(const struct drawing *d, const struct curve *c)
{
    size_t n_high;
    size_t n_low;
    const struct dot *high = downsample(c->t, c->v, c->n, CHART_BUCKETS, d->a, &n_high);
    const struct dot *low = downsample(c->t, c->low, c->n, CHART_BUCKETS, d->a, &n_low);
    char pen = 'M';

    strbuf_printf(d->out, "<path class=\"fill s%u\" d=\"", c->style);
    for (size_t i = 0; i < n_high; i++) {
        if (!isfinite(high[i].v))
            continue;
        strbuf_printf(d->out, "%c%.1f,%.1f", pen, x_of(d, high[i].t), y_of(d, high[i].v));
        pen = 'L';
    }
    for (size_t i = n_low; i-- > 0;) {
        if (isfinite(low[i].v))
            strbuf_printf(d->out, "L%.1f,%.1f", x_of(d, low[i].t), y_of(d, low[i].v));
    }
    strbuf_puts(d->out, pen == 'L' ? "Z\"/>" : "\"/>");
}

static void put_path(const struct drawing *d, const struct curve *c, const char *name, const double *v)
{
    strbuf_printf(d->out, "<path class=\"line s%u%s%s\" data-name=\"", c->style,
                  c->kind == CURVE_DASHED ? " dashed" : "", c->kind == CURVE_BAND ? " thin" : "");
    chart_html_text(d->out, name);
    strbuf_puts(d->out, "\" d=\"");
    put_line(d, c, v);
    strbuf_puts(d->out, "\"/>");
}

static void put_curve(const struct drawing *d, const struct curve *c)
{
    if (c->kind != CURVE_BAND) {
        put_path(d, c, c->name, c->v);
        return;
    }
    put_area(d, c);
    put_path(d, c, "highest", c->v);
    put_path(d, c, "lowest", c->low);
}

static void put_bars(const struct drawing *d)
{
    const struct curve *c = &d->chart->curves[0];
    double width = CHART_WIDTH * d->chart->bar_s / (d->axis->to_s - d->axis->from_s);

    strbuf_printf(d->out, "<path class=\"bar s%u\" data-name=\"", c->style);
    chart_html_text(d->out, c->name);
    strbuf_puts(d->out, "\" d=\"");
    for (size_t i = 0; i < c->n; i++) { /* each path begins with M and its value, which the script reads */
        double x = x_of(d, c->t[i]) - width * (1 - BAR_GAP);
        strbuf_printf(d->out, "M%.1f,%.1fh%.1fV%gh-%.1fZ", fmax(x, 0), y_of(d, c->v[i]),
                      width * (1 - BAR_GAP), CHART_HEIGHT, width * (1 - BAR_GAP));
    }
    strbuf_puts(d->out, "\"/>");
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *told_text(const struct drawing *d, const struct curve *c, const struct curve_facts *t)
{
    const char *unit = d->chart->unit;

    if (t->least >= t->most)
        return arena_printf(d->a, "%s: %s throughout.", c->name, format_figure(d->a, t->most, unit));
    if (c->kind == CURVE_BAND)
        return arena_printf(d->a, "%s: %s to %s.", c->name, format_number(d->a, t->least, ""),
                            format_figure(d->a, t->most, unit));
    if (d->chart->sums)
        return arena_printf(d->a, "%s: %s at the end.", c->name, format_figure(d->a, t->last, unit));
    return arena_printf(d->a, "%s: %s to %s, mean %s, %s at the end.", c->name,
                        format_number(d->a, t->least, ""), format_figure(d->a, t->most, unit),
                        format_figure(d->a, t->mean, unit), format_figure(d->a, t->last, unit));
}

static const char *alternative(const struct drawing *d)
{
    const struct chart *c = d->chart;
    const char *text = "";

    for (size_t i = 0; i < c->n_curves && i < TOLD_MAX; i++) {
        struct curve_facts t = curve_facts(&c->curves[i]);
        if (t.least <= t.most)
            text = arena_printf(d->a, "%s%s%s", text, *text ? " " : "", told_text(d, &c->curves[i], &t));
    }
    return *text ? text : "Nothing is known.";
}

static void put_legend(const struct drawing *d)
{
    if (d->chart->n_curves < 2)
        return;
    strbuf_puts(d->out, "<ul class=\"legend\">");
    for (size_t i = 0; i < d->chart->n_curves; i++) {
        const struct curve *c = &d->chart->curves[i];
        strbuf_printf(d->out,
                      "<li><svg viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path class=\"%s s%u%s\" "
                      "d=\"%s\"/></svg>",
                      c->kind == CURVE_BAND ? "fill" : "line", c->style,
                      c->kind == CURVE_DASHED ? " dashed" : "",
                      c->kind == CURVE_BAND ? "M0,0H24V8H0Z" : "M0,4H24");
        chart_html_text(d->out, c->name);
        strbuf_puts(d->out, "</li>");
    }
    strbuf_puts(d->out, "</ul>");
}

/* The value at a time: the last one up to it. */
static double value_at(const struct curve *c, const double *values, double t_s)
{
    double v = NAN;

    for (size_t i = 0; i < c->n && c->t[i] <= t_s; i++)
        v = values[i];
    return v;
}

static void put_cell(const struct drawing *d, double v)
{
    strbuf_printf(d->out, "<td>%s</td>", format_figure(d->a, v, ""));
}

static void put_row(const struct drawing *d, double t_s)
{
    strbuf_puts(d->out, "<tr><th scope=\"row\">");
    chart_html_text(d->out, axis_time(d->a, d->axis, t_s));
    strbuf_puts(d->out, "</th>");
    for (size_t i = 0; i < d->chart->n_curves; i++) {
        const struct curve *c = &d->chart->curves[i];
        if (c->low)
            put_cell(d, value_at(c, c->low, t_s));
        put_cell(d, value_at(c, c->v, t_s));
    }
    strbuf_puts(d->out, "</tr>");
}

static void put_table(const struct drawing *d)
{
    strbuf_puts(d->out, "<details><summary>As a table</summary><div class=\"scroll\"><table><caption>");
    chart_html_text(d->out, d->chart->title);
    strbuf_puts(d->out, ": the values at these times</caption><thead><tr><th scope=\"col\">Time (UTC)</th>");
    for (size_t i = 0; i < d->chart->n_curves; i++) {
        const struct curve *c = &d->chart->curves[i];
        strbuf_puts(d->out,
                    c->low ? "<th scope=\"col\">lowest</th><th scope=\"col\">" : "<th scope=\"col\">");
        chart_html_text(d->out, c->low ? "highest" : c->name);
        strbuf_puts(d->out, "</th>");
    }
    strbuf_puts(d->out, "</tr></thead><tbody>");
    for (int row = 0; row <= TABLE_ROWS; row++)
        put_row(d, d->axis->from_s + (d->axis->to_s - d->axis->from_s) * row / TABLE_ROWS);
    strbuf_puts(d->out, "</tbody></table></div></details>");
}

static void put_caption(const struct drawing *d)
{
    strbuf_puts(d->out, "<figure class=\"chart\"><figcaption><h3>");
    chart_html_text(d->out, *d->chart->unit ? arena_printf(d->a, "%s, %s", d->chart->title, d->chart->unit)
                                            : d->chart->title);
    strbuf_puts(d->out, "</h3><p>");
    chart_html_text(d->out, d->chart->about);
    strbuf_puts(d->out, "</p></figcaption>");
    put_legend(d);
}

void chart_put(const struct chart *c, const struct time_axis *axis, struct arena *a, struct strbuf *out)
{
    struct drawing d = {.chart = c, .axis = axis, .a = a, .out = out};

    set_range(&d);
    put_caption(&d);
    strbuf_printf(out, "<div class=\"plot\" data-low=\"%.10g\" data-high=\"%.10g\" data-unit=\"%s\">", d.low,
                  d.high, c->unit);
    axis_put_values(d.low, d.high, out);
    strbuf_printf(out,
                  "<div class=\"area\"><svg viewBox=\"0 0 %g %g\" preserveAspectRatio=\"none\" role=\"img\" "
                  "aria-label=\"",
                  CHART_WIDTH, CHART_HEIGHT);
    chart_html_text(out, arena_printf(a, "%s. %s", c->title, alternative(&d)));
    strbuf_puts(out, "\">");
    axis_put_grid(axis, out);
    if (c->bars && c->n_curves > 0)
        put_bars(&d);
    for (size_t i = 0; !c->bars && i < c->n_curves; i++)
        put_curve(&d, &c->curves[i]);
    strbuf_puts(out, "</svg></div>");
    axis_put_time(axis, a, out);
    strbuf_puts(out, "</div><p class=\"reading\">");
    chart_html_text(out, alternative(&d));
    strbuf_puts(out, "</p>");
    put_table(&d);
    strbuf_puts(out, "</figure>\n");
}
