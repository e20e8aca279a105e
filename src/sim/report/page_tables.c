/* page_tables.c: the sentences, headline figures and tables of the page, as data. */
#include "sim/report/compare.h"
#include "sim/report/page.h"
#include "sim/report/pool_figures.h"

#include <math.h>
#include <string.h>

const char *page_set_name(const struct page *p, size_t set)
{
    return p->n == 1 ? "" : set == 0 ? "A" : "B";
}

/* ---- sentences ------------------------------------------------------------------------------- */

void page_texts_make(const struct page *p, struct page_texts *ret)
{
    const struct run_set *first = p->sets[0];
    struct page_texts t = {0};

    t.about[t.n_about++] = format_run(p->a, first);
    for (size_t i = 0; i < p->n; i++) {
        const char *policy = format_policy(p->a, p->sets[i]->runs[0].scenario);
        t.about[t.n_about++] =
            p->n == 1 ? policy
                      : arena_printf(p->a, "%s: %s. %s", page_set_name(p, i), p->sets[i]->label, policy);
    }
    const char *headline = p->n == 2 ? compare_headline(p->a, first, p->sets[1]) : "";
    if (*headline)
        t.about[t.n_about++] = headline;
    t.notes[t.n_notes++] = format_assumptions(p->a, first->runs[0].scenario);
    if (first->n > 1)
        t.notes[t.n_notes++] = "Figures are medians of all runs; the plots are those of the first seed.";
    *ret = t;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static const struct tile_kind {
    enum metric_id id;
    const char *what;
    enum metric_id against; /* the figure to compare with; METRIC_COUNT: none */
    const char *against_what;
} tile_kinds[] = {
    {METRIC_kwh, "Energy", METRIC_kwh_all_on, "with all hosts on"},
    {METRIC_payload_cpu, "CPU delivered", METRIC_payload_cpu_bound, "possible"},
    {METRIC_slav, "Missing CPU", METRIC_COUNT, NULL},
    {METRIC_host_above_90_s, "Any host above 90 %", METRIC_COUNT, NULL},
    {METRIC_imbalance_mean, "Mean imbalance", METRIC_COUNT, NULL},
    {METRIC_time_to_target_s, "From the worst to the target", METRIC_COUNT, NULL},
    {METRIC_migrations, "Migrations", METRIC_COUNT, NULL},
    {METRIC_hosts_on_mean, "Hosts on, mean", METRIC_COUNT, NULL},
};
#define N_TILE_KINDS (sizeof tile_kinds / sizeof *tile_kinds)

static double median(const struct page *p, size_t set, enum metric_id id)
{
    return metric_spread(p->sets[set], id).median;
}

static const char *against_text(const struct page *p, const struct tile_kind *k, double v)
{
    double other = median(p, 0, k->against);

    if (!isfinite(other))
        return "";
    const char *percent = k->id == METRIC_kwh ? format_percent(p->a, other, v) : NULL;
    return arena_printf(p->a, "%s %s%s%s", format_figure(p->a, other, metric_unit(k->id)), k->against_what,
                        percent ? ": " : "", percent ? percent : "");
}

static const char *tile_note(const struct page *p, const struct tile_kind *k)
{
    double v = median(p, 0, k->id);

    if (p->n == 2) {
        const char *percent = format_percent(p->a, v, median(p, 1, k->id));
        return percent ? arena_printf(p->a, "B against A: %s", percent) : "";
    }
    if (k->against < METRIC_COUNT)
        return against_text(p, k, v);
    if (k->id == METRIC_hosts_on_mean)
        return arena_printf(p->a, "of %u", p->sets[0]->runs[0].scenario->initial.n_hosts);
    if (k->id == METRIC_migrations)
        return arena_printf(p->a, "%s failed",
                            format_figure(p->a, median(p, 0, METRIC_migrations_failed), ""));
    return "";
}

size_t page_tiles_make(const struct page *p, const struct page_tile **ret)
{
    struct page_tile *tiles = arena_array(p->a, struct page_tile, N_TILE_KINDS);
    size_t n = 0;

    for (size_t i = 0; i < N_TILE_KINDS; i++) {
        const struct tile_kind *k = &tile_kinds[i];
        const char *unit = metric_unit(k->id);
        double v = median(p, 0, k->id);
        if (isnan(v) || (k->id == METRIC_kwh && !metric_has_power_model(p->sets[0]->runs[0].scenario)))
            continue;
        const char *value = format_figure(p->a, median(p, p->n - 1, k->id), unit);
        const char *number = p->n == 2 ? format_number(p->a, v, unit) : NULL;
        tiles[n++] = (struct page_tile){
            .what = k->what,
            .value = number ? arena_printf(p->a, "%s \xe2\x86\x92 %s", number, value) : value, /* an arrow */
            .note = tile_note(p, k),
        };
    }
    *ret = tiles;
    return n;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static struct page_table *add_table(const struct page *p, struct page_tables *list, struct page_table table)
{
    list->items = arena_grow(p->a, list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n] = table;
    return &list->items[list->n++];
}

static void add_row(const struct page *p, struct page_table *t, struct page_row row)
{
    t->rows = arena_grow(p->a, t->rows, t->n_rows, &t->cap_rows, sizeof *t->rows);
    t->rows[t->n_rows++] = row;
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static struct page_row metric_row_of(const struct page *p, const struct metric_row *m)
{
    struct spread first = metric_spread(p->sets[0], m->id);
    const char **cells = arena_array(p->a, const char *, 4);

    cells[0] = metric_figure(p->a, first.median, m->id);
    if (p->n == 2) {
        double b = metric_spread(p->sets[1], m->id).median;
        int judged = metric_judge(m, first.median, b);
        cells[1] = metric_figure(p->a, b, m->id);
        cells[2] = or_dash(format_percent(p->a, first.median, b));
        cells[3] = judged > 0 ? "B" : judged < 0 ? "A" : "";
    } else {
        cells[1] = metric_figure(p->a, first.least, m->id);
        cells[2] = metric_figure(p->a, first.most, m->id);
    }
    return (struct page_row){
        .head = m->label + strspn(m->label, " "),
        .note = arena_printf(p->a, "%s: %s", metric_name(m->id), metric_meaning(m->id)),
        .cells = cells,
    };
}

static void add_metrics(const struct page *p, struct page_tables *list)
{
    static const char *const alone[] = {"Figure", "value"};
    static const char *const ranges[] = {"Figure", "median", "least", "most"};
    static const char *const compared[] = {"Figure", "A", "B", "difference", "better"};
    enum metric_group group = GROUP_COUNT;
    bool several = p->sets[0]->n > 1;
    struct page_table *t = add_table(p, list,
                                     (struct page_table){
                                         .heading = "All figures",
                                         .caption = several ? "Medians of all runs" : "Of the whole run",
                                         .columns = p->n == 2 ? compared
                                                    : several ? ranges
                                                              : alone,
                                         .n_columns = p->n == 2 ? 5
                                                      : several ? 4
                                                                : 2,
                                     });

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *m = &metric_rows[i];
        if (!metric_applies(p->sets[0], m) && (p->n == 1 || !metric_applies(p->sets[1], m)))
            continue;
        if (m->group != group)
            add_row(p, t, (struct page_row){.group = metric_group_title(m->group)});
        group = m->group;
        add_row(p, t, metric_row_of(p, m));
    }
}

static void add_pools(const struct page *p, struct page_tables *list)
{
    const char **columns = arena_array(p->a, const char *, 2 + POOL_FIGURE_COUNT);

    columns[0] = "Pool";
    columns[1] = "VMs";
    for (int f = 0; f < POOL_FIGURE_COUNT; f++)
        columns[2 + f] = pool_figure_label((enum pool_figure)f);
    for (size_t k = 0; k < p->n && p->sets[0]->runs[0].n_pools > 0; k++) {
        const struct run_set *set = p->sets[k];
        struct page_table *t =
            add_table(p, list,
                      (struct page_table){
                          .heading = "Pools",
                          .caption = p->n == 1 ? "In percent"
                                               : arena_printf(p->a, "%s, in percent", page_set_name(p, k)),
                          .columns = columns,
                          .n_columns = 2 + POOL_FIGURE_COUNT,
                      });
        for (uint32_t i = 0; i < set->runs[0].n_pools; i++) {
            const char **cells = arena_array(p->a, const char *, 1 + POOL_FIGURE_COUNT);
            cells[0] = format_figure(p->a, set->runs[0].pools[i].vms, "");
            for (int f = 0; f < POOL_FIGURE_COUNT; f++)
                cells[1 + f] =
                    format_figure(p->a, pool_figures_spread(set, i, (enum pool_figure)f).median, "");
            add_row(p, t, (struct page_row){.head = set->runs[0].pools[i].name, .cells = cells});
        }
    }
}

#define MHZ_S_PER_GHZ_H 3.6e6

static void add_shortfall(const struct page *p, struct page_table *t, const struct vm_shortfall *v)
{
    const char **cells = arena_array(p->a, const char *, 4);

    cells[0] = format_figure(p->a, v->cpu_mhz_s / MHZ_S_PER_GHZ_H, "");
    cells[1] = format_figure(p->a, v->cpu_percent, "");
    cells[2] = format_figure(p->a, v->entitled_percent, "");
    cells[3] = format_figure(p->a, v->mem_percent, "");
    add_row(p, t, (struct page_row){.head = v->vm, .cells = cells});
}

static void add_shortfalls(const struct page *p, struct page_tables *list)
{
    static const char *const columns[] = {"VM", "missing CPU, GHz h", "of what it wanted, %",
                                          "of its entitlement, %", "missing memory, %"};
    uint32_t n = 0;

    for (size_t k = 0; k < p->n; k++)
        n += p->sets[k]->runs[0].n_shortfalls;
    for (size_t k = 0; k < p->n && n > 0; k++) {
        const struct simulation *s = &p->sets[k]->runs[0];
        const char *run = p->sets[k]->n == 1 ? "the run" : "the first run";
        struct page_table *t =
            add_table(p, list,
                      (struct page_table){
                          .heading = "VMs that lacked most CPU",
                          .caption = p->n == 1 ? arena_printf(p->a, "Of %s", run)
                                               : arena_printf(p->a, "%s, of %s", page_set_name(p, k), run),
                          .columns = columns,
                          .n_columns = sizeof columns / sizeof *columns,
                      });
        for (uint32_t i = 0; i < s->n_shortfalls; i++)
            add_shortfall(p, t, &s->shortfalls[i]);
    }
}

static void add_settings(const struct page *p, struct page_tables *list)
{
    static const char *const alone[] = {"Setting", "value"};
    static const char *const compared[] = {"Setting", "A", "B"};
    struct page_table *t = add_table(p, list,
                                     (struct page_table){
                                         .heading = "Settings",
                                         .caption = "The settings that the passes ran with",
                                         .summary = "That the passes ran with",
                                         .columns = p->n == 2 ? compared : alone,
                                         .n_columns = p->n == 2 ? 3 : 2,
                                     });

    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];
        const char **values = arena_array(p->a, const char *, 2);
        for (size_t k = 0; k < p->n; k++)
            values[k] = policy_get(&p->sets[k]->runs[0].scenario->policy, f, p->a);
        add_row(p, t,
                (struct page_row){
                    .head = f->name,
                    .differs = p->n == 2 && strcmp(values[0], values[1]) != 0,
                    .cells = values,
                });
    }
}

void page_tables_make(const struct page *p, struct page_tables *ret)
{
    *ret = (struct page_tables){0};
    add_metrics(p, ret);
    add_pools(p, ret);
    add_shortfalls(p, ret);
    add_settings(p, ret);
}
