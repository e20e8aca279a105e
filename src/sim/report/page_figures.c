/* page_figures.c: the tables of the page. */
#include "sim/report/page.h"
#include "sim/report/pool_figures.h"

#include <math.h>
#include <string.h>

/* ---- tiles ----------------------------------------------------------------------------------- */

static const struct {
    enum metric_id id;
    const char *what;
    enum metric_id against; /* the figure to compare with; METRIC_COUNT: none */
    const char *against_what;
} tiles[] = {
    {METRIC_kwh, "Energy", METRIC_kwh_all_on, "with all hosts on"},
    {METRIC_payload_cpu, "CPU delivered", METRIC_payload_cpu_bound, "possible"},
    {METRIC_slav, "Missing CPU", METRIC_COUNT, NULL},
    {METRIC_host_above_90_s, "Any host above 90 %", METRIC_COUNT, NULL},
    {METRIC_imbalance_mean, "Mean imbalance", METRIC_COUNT, NULL},
    {METRIC_time_to_target_s, "From the worst to the target", METRIC_COUNT, NULL},
    {METRIC_migrations, "Migrations", METRIC_COUNT, NULL},
    {METRIC_hosts_on_mean, "Hosts on, mean", METRIC_COUNT, NULL},
};

static double median(const struct page *p, size_t set, enum metric_id id)
{
    return metric_spread(p->sets[set], id).median;
}

static void put_tile_note(const struct page *p, size_t i)
{
    const char *unit = metric_unit(tiles[i].id);
    double v = median(p, 0, tiles[i].id);

    if (p->n == 2) {
        const char *percent = format_percent(p->a, v, median(p, 1, tiles[i].id));
        chart_html_text(p->out, percent ? arena_printf(p->a, "B against A: %s", percent) : "");
    } else if (tiles[i].against < METRIC_COUNT) {
        double other = median(p, 0, tiles[i].against);
        const char *percent = tiles[i].id == METRIC_kwh ? format_percent(p->a, other, v) : NULL;
        chart_html_text(p->out,
                        isfinite(other)
                            ? arena_printf(p->a, "%s %s%s%s", format_figure(p->a, other, unit),
                                           tiles[i].against_what, percent ? ": " : "", percent ? percent : "")
                            : "");
    } else if (tiles[i].id == METRIC_hosts_on_mean)
        chart_html_text(p->out, arena_printf(p->a, "of %u", p->sets[0]->runs[0].scenario->initial.n_hosts));
    else if (tiles[i].id == METRIC_migrations)
        chart_html_text(
            p->out,
            arena_printf(p->a, "%s failed", format_figure(p->a, median(p, 0, METRIC_migrations_failed), "")));
}

void page_tiles(const struct page *p)
{
    strbuf_printf(p->out, "<ul class=\"tiles%s\">", p->n == 2 ? " two" : "");
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const char *unit = metric_unit(tiles[i].id);
        if (isnan(median(p, 0, tiles[i].id)) ||
            (tiles[i].id == METRIC_kwh && !metric_has_power_model(p->sets[0]->runs[0].scenario)))
            continue;
        strbuf_puts(p->out, "<li>");
        chart_html_text(p->out, tiles[i].what);
        strbuf_puts(p->out, "<b>");
        if (p->n == 2) {
            chart_html_text(p->out, format_number(p->a, median(p, 0, tiles[i].id), unit));
            strbuf_puts(p->out, " \xe2\x86\x92 "); /* an arrow to the right */
        }
        chart_html_text(p->out, format_figure(p->a, median(p, p->n - 1, tiles[i].id), unit));
        strbuf_puts(p->out, "</b><small>");
        put_tile_note(p, i);
        strbuf_puts(p->out, "</small></li>\n");
    }
    strbuf_puts(p->out, "</ul>\n");
}

/* ---- the table of all ------------------------------------------------------------------------ */

static void put_cell(const struct page *p, const char *class, const char *text)
{
    strbuf_printf(p->out, "<td class=\"%s\">", class);
    chart_html_text(p->out, text ? text : "-");
    strbuf_puts(p->out, "</td>");
}

static void put_metric(const struct page *p, const struct metric_row *m)
{
    struct spread first = metric_spread(p->sets[0], m->id);

    strbuf_puts(p->out, "<tr><th scope=\"row\">");
    chart_html_text(p->out, m->label + strspn(m->label, " "));
    strbuf_puts(p->out, "<small>");
    chart_html_text(p->out, arena_printf(p->a, "%s: %s", metric_name(m->id), metric_meaning(m->id)));
    strbuf_puts(p->out, "</small></th>");
    put_cell(p, "", metric_figure(p->a, first.median, m->id));
    if (p->n == 2) {
        double b = metric_spread(p->sets[1], m->id).median;
        int judged = metric_judge(m, first.median, b);
        put_cell(p, "", metric_figure(p->a, b, m->id));
        put_cell(p, "", format_percent(p->a, first.median, b));
        put_cell(p, "better", judged > 0 ? "B" : judged < 0 ? "A" : "");
    } else if (p->sets[0]->n > 1) {
        put_cell(p, "", metric_figure(p->a, first.least, m->id));
        put_cell(p, "", metric_figure(p->a, first.most, m->id));
    }
    strbuf_puts(p->out, "</tr>\n");
}

static size_t metric_columns(const struct page *p)
{
    return p->n == 2 ? 5 : p->sets[0]->n > 1 ? 4 : 2;
}

void page_metrics(const struct page *p)
{
    enum metric_group group = GROUP_COUNT;

    strbuf_puts(p->out, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Figure</th>");
    if (p->n == 2)
        strbuf_puts(p->out,
                    "<th scope=\"col\">A</th><th scope=\"col\">B</th><th scope=\"col\">difference</th><th "
                    "scope=\"col\">better</th>");
    else if (p->sets[0]->n > 1)
        strbuf_puts(p->out,
                    "<th scope=\"col\">median</th><th scope=\"col\">least</th><th scope=\"col\">most</th>");
    else
        strbuf_puts(p->out, "<th scope=\"col\">value</th>");
    strbuf_puts(p->out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *m = &metric_rows[i];
        if (!metric_applies(p->sets[0], m) && (p->n == 1 || !metric_applies(p->sets[1], m)))
            continue;
        if (m->group != group)
            strbuf_printf(p->out, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">%s</th></tr>\n",
                          metric_columns(p), metric_group_title(m->group));
        group = m->group;
        put_metric(p, m);
    }
    strbuf_puts(p->out, "</tbody></table></div>\n");
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void put_pool_table(const struct page *p, const struct run_set *set, const char *caption)
{
    strbuf_puts(p->out, "<div class=\"scroll\"><table><caption>");
    chart_html_text(p->out, caption);
    strbuf_puts(p->out, "</caption><thead><tr><th scope=\"col\">Pool</th><th scope=\"col\">VMs</th>");
    for (int f = 0; f < POOL_FIGURE_COUNT; f++)
        strbuf_printf(p->out, "<th scope=\"col\">%s</th>", pool_figure_label((enum pool_figure)f));
    strbuf_puts(p->out, "</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < set->runs[0].n_pools; i++) {
        strbuf_puts(p->out, "<tr><th scope=\"row\">");
        chart_html_text(p->out, set->runs[0].pools[i].name);
        strbuf_puts(p->out, "</th>");
        put_cell(p, "", format_figure(p->a, set->runs[0].pools[i].vms, ""));
        for (int f = 0; f < POOL_FIGURE_COUNT; f++)
            put_cell(p, "", format_figure(p->a, pool_figures_spread(set, i, (enum pool_figure)f).median, ""));
        strbuf_puts(p->out, "</tr>\n");
    }
    strbuf_puts(p->out, "</tbody></table></div>\n");
}

void page_pools(const struct page *p)
{
    if (p->sets[0]->runs[0].n_pools == 0)
        return;
    strbuf_puts(p->out, "<h2>Pools</h2>\n");
    for (size_t i = 0; i < p->n; i++)
        put_pool_table(p, p->sets[i],
                       p->n == 1 ? "In percent" : arena_printf(p->a, "%s, in percent", i == 0 ? "A" : "B"));
}

/* ---- VMs ------------------------------------------------------------------------------------- */

#define MHZ_S_PER_GHZ_H 3.6e6

static void put_shortfalls(const struct page *p, const struct run_set *set, const char *caption)
{
    const struct simulation *s = &set->runs[0];

    strbuf_puts(p->out, "<div class=\"scroll\"><table><caption>");
    chart_html_text(p->out, caption);
    strbuf_puts(p->out,
                "</caption><thead><tr><th scope=\"col\">VM</th><th scope=\"col\">missing CPU, GHz h</th><th "
                "scope=\"col\">of what it wanted, %</th><th scope=\"col\">of its entitlement, %</th><th "
                "scope=\"col\">missing memory, %</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < s->n_shortfalls; i++) {
        const struct vm_shortfall *v = &s->shortfalls[i];
        const double figures[] = {v->cpu_mhz_s / MHZ_S_PER_GHZ_H, v->cpu_percent, v->entitled_percent,
                                  v->mem_percent};
        strbuf_puts(p->out, "<tr><th scope=\"row\">");
        chart_html_text(p->out, v->vm);
        strbuf_puts(p->out, "</th>");
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
            put_cell(p, "", format_figure(p->a, figures[k], ""));
        strbuf_puts(p->out, "</tr>\n");
    }
    strbuf_puts(p->out, "</tbody></table></div>\n");
}

void page_shortfalls(const struct page *p)
{
    uint32_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->sets[i]->runs[0].n_shortfalls;
    if (n == 0)
        return;
    strbuf_puts(p->out, "<h2>VMs that lacked most CPU</h2>\n");
    for (size_t i = 0; i < p->n; i++)
        put_shortfalls(p, p->sets[i],
                       arena_printf(p->a, "%s%s",
                                    p->n == 1 ? ""
                                    : i == 0  ? "A"
                                              : "B",
                                    p->sets[i]->n == 1 ? ""
                                    : p->n == 1        ? "The first run"
                                                       : ", the first run"));
}

/* ---- settings -------------------------------------------------------------------------------- */

void page_settings(const struct page *p)
{
    size_t n;
    const struct setting *settings = policy_settings(&n);

    strbuf_puts(p->out,
                "<h2>Settings</h2>\n<details class=\"wide\"><summary>That the passes ran with</summary><div "
                "class=\"scroll\"><table><thead><tr><th scope=\"col\">Setting</th>");
    strbuf_puts(p->out, p->n == 2 ? "<th scope=\"col\">A</th><th scope=\"col\">B</th>"
                                  : "<th scope=\"col\">value</th>");
    strbuf_puts(p->out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        const char *values[2] = {NULL, NULL};
        for (size_t k = 0; k < p->n; k++)
            values[k] = policy_get(&p->sets[k]->runs[0].scenario->policy, &settings[i], p->a);
        strbuf_printf(p->out, "<tr%s><th scope=\"row\">%s</th>",
                      p->n == 2 && strcmp(values[0], values[1]) != 0 ? " class=\"differs\"" : "",
                      settings[i].key);
        for (size_t k = 0; k < p->n; k++)
            put_cell(p, "", values[k]);
        strbuf_puts(p->out, "</tr>\n");
    }
    strbuf_puts(p->out, "</tbody></table></div></details>\n");
}
