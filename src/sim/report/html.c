/* html.c: assembles the page. Its tables are page_figures.c's, its plots page_plots.c's. */
#include "sim/report/compare.h"
#include "sim/report/page.h"
#include "sim/report/page_assets.h"

#include <math.h>

/* From the first sample or pass to the last. */
static struct time_axis axis_of_run(const struct simulation *s)
{
    struct time_axis axis = {.start = s->scenario->start, .from_s = 0, .to_s = s->scenario->duration_s};

    if (s->n_series > 0) {
        axis.from_s = s->series[0].t_s;
        axis.to_s = s->series[s->n_series - 1].t_s;
    }
    if (!(axis.to_s > axis.from_s))
        axis.to_s = axis.from_s + 1;
    return axis;
}

/* Covers both runs. */
static struct time_axis axis_of(const struct run_set *a, const struct run_set *b)
{
    struct time_axis axis = axis_of_run(a->runs);

    if (b) {
        const struct time_axis other = axis_of_run(b->runs);
        axis.from_s = fmin(axis.from_s, other.from_s);
        axis.to_s = fmax(axis.to_s, other.to_s);
    }
    return axis;
}

static void put_head(const struct page *p)
{
    const struct scenario *s = p->sets[0]->runs[0].scenario;

    strbuf_puts(p->out,
                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\"/>\n<title>");
    chart_html_text(p->out, s->name);
    strbuf_printf(p->out, " - simulated by Ballast</title>\n<style>\n%s</style></head>\n", page_style);
    strbuf_printf(p->out, "<body data-start=\"%lld\" data-from=\"%.10g\" data-to=\"%.10g\"><main>\n",
                  (long long)p->axis.start, p->axis.from_s, p->axis.to_s);
}

static void put_paragraph(const struct page *p, const char *class, const char *text)
{
    strbuf_printf(p->out, "<p class=\"%s\">", class);
    chart_html_text(p->out, text);
    strbuf_puts(p->out, "</p>\n");
}

static void put_heading(const struct page *p)
{
    const struct scenario *s = p->sets[0]->runs[0].scenario;

    strbuf_puts(p->out, "<header><h1>");
    chart_html_text(p->out, s->name);
    strbuf_puts(p->out, "</h1>\n");
    put_paragraph(p, "lead", format_run(p->a, p->sets[0]));
    for (size_t i = 0; i < p->n; i++) {
        const char *policy = format_policy(p->a, p->sets[i]->runs[0].scenario);
        put_paragraph(p, "lead",
                      p->n == 1
                          ? policy
                          : arena_printf(p->a, "%s: %s. %s", i == 0 ? "A" : "B", p->sets[i]->label, policy));
    }
    if (p->n == 2)
        put_paragraph(p, "lead", compare_headline(p->a, p->sets[0], p->sets[1]));
    put_paragraph(p, "soft", format_assumptions(p->a, s));
    if (p->sets[0]->n > 1)
        put_paragraph(p, "soft", "Figures are medians of all runs; the plots are those of the first seed.");
    strbuf_puts(p->out, "</header>\n");
}

void report_html(const struct run_set *a, const struct run_set *b, struct strbuf *out)
{
    struct arena scratch = {0};
    const struct page p = {
        .sets = {a, b},
        .n = b ? 2 : 1,
        .axis = axis_of(a, b),
        .a = &scratch,
        .out = out,
    };

    put_head(&p);
    put_heading(&p);
    page_tiles(&p);
    strbuf_puts(
        out, "<h2>Over time</h2>\n<p class=\"soft\">Times are those of the scenario's clock, in UTC. Point "
             "at a plot to read its values.</p>\n");
    page_plots(&p);
    strbuf_puts(out, "<h2>All figures</h2>\n");
    page_metrics(&p);
    page_pools(&p);
    page_shortfalls(&p);
    page_settings(&p);
    strbuf_printf(out, "</main>\n<script>\n%s</script>\n</body></html>\n", page_script);
    arena_release(&scratch);
}
