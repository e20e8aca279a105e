/* compare.c: two policies side by side, as text. */
#include "sim/report/compare.h"
#include "base/cleanup.h"
#include "render/table.h"
#include "sim/report/pool_figures.h"

#include <math.h>

/* The headline figures, each in one sentence. */
static const struct {
    enum metric_id id;
    const char *what;
} first_asked[] = {
    {METRIC_kwh, "energy"},
    {METRIC_payload_cpu, "CPU payload"},
    {METRIC_payload_mem, "memory payload"},
    {METRIC_migrations, "migrations"},
    {METRIC_imbalance_mean, "mean imbalance"},
};

const char *compare_headline(struct arena *arena, const struct run_set *a, const struct run_set *b)
{
    const char *text = "";

    for (size_t i = 0; i < sizeof first_asked / sizeof *first_asked; i++) {
        const char *percent = format_percent(arena, metric_spread(a, first_asked[i].id).median,
                                             metric_spread(b, first_asked[i].id).median);
        if (!percent || (first_asked[i].id == METRIC_kwh && !metric_has_power_model(a->runs[0].scenario)))
            continue;
        text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", first_asked[i].what, percent);
    }
    return *text ? arena_printf(arena, "B against A: %s.", text) : "";
}

size_t compare_seeds_better(const struct metric_row *m, const struct run_set *a, const struct run_set *b,
                            int which)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += metric_judge(m, metric_of(&a->runs[i], m->id), metric_of(&b->runs[i], m->id)) == which;
    return n;
}

static void put_heading(const struct run_set *a, const struct run_set *b, struct arena *arena,
                        struct strbuf *out)
{
    table_put_wrapped(out, arena_printf(arena, "%s: %s", a->runs[0].scenario->name, format_run(arena, a)), 0);
    table_put_wrapped(out, format_assumptions(arena, a->runs[0].scenario), 0);
    table_put_wrapped(
        out, arena_printf(arena, "A: %s. %s", a->label, format_policy(arena, a->runs[0].scenario)), 0);
    table_put_wrapped(
        out, arena_printf(arena, "B: %s. %s", b->label, format_policy(arena, b->runs[0].scenario)), 0);
    table_put_wrapped(out, compare_headline(arena, a, b), 0);
    if (a->n > 1)
        table_put_wrapped(
            out, "Each figure is the median of the runs; SEEDS: for how many A and B were better.", 0);
}

static const struct column columns[] = {
    {"", false}, {"A", true}, {"B", true}, {"", false}, {"CHANGE", true}, {"BETTER", false}, {"SEEDS", false},
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

static const char *better_text(int judged)
{
    static const char *const names[] = {"A", "", "B"};

    return names[judged + 1];
}

static void add_metric(struct table *t, const struct metric_row *m, const struct run_set *a,
                       const struct run_set *b)
{
    const char *unit = metric_unit(m->id);
    double from = metric_spread(a, m->id).median;
    double to = metric_spread(b, m->id).median;
    bool alike = !isnan(from) && !isnan(to) && metric_judge(&(struct metric_row){.better = 1}, from, to) == 0;

    table_cellf(t, "  %s", m->label);
    table_cell(t, metric_number(t->a, from, m->id));
    table_cell(t, metric_number(t->a, to, m->id));
    table_cell(t, format_unit(unit));
    const char *percent = format_percent(t->a, from, to);
    table_cell(t, alike ? "the same" : percent ? percent : format_difference(t->a, from, to, unit));
    table_cell(t, better_text(metric_judge(m, from, to)));
    if (t->n_columns == N_COLUMNS)
        table_cell(t, m->better == 0 ? ""
                                     : arena_printf(t->a, "%zu : %zu", compare_seeds_better(m, a, b, -1),
                                                    compare_seeds_better(m, a, b, 1)));
}

static void put_metrics(const struct run_set *a, const struct run_set *b, struct arena *arena,
                        struct strbuf *out)
{
    struct table t = table_of(arena, columns, a->n > 1 ? N_COLUMNS : N_COLUMNS - 1);
    enum metric_group group = GROUP_COUNT;

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *m = &metric_rows[i];
        if (!metric_applies(a, m) && !metric_applies(b, m))
            continue;
        if (m->group != group) {
            table_cell(&t, metric_group_title(m->group));
            for (size_t c = 1; c < t.n_columns; c++)
                table_cell(&t, "");
        }
        group = m->group;
        add_metric(&t, m, a, b);
    }
    table_render(&t, "", out);
}

static const struct column pool_columns[] = {
    {"POOL", false}, {"VMS", true}, {"", false}, {"CPU GOT", true}, {"ENTITLED", true}, {"AT WORST", true},
};

static void put_pools(const struct run_set *a, const struct run_set *b, struct arena *arena,
                      struct strbuf *out)
{
    static const enum pool_figure compared[] = {POOL_GOT_CPU, POOL_HAPPINESS_MEAN, POOL_HAPPINESS_LEAST};
    struct table t = table_of(arena, pool_columns, sizeof pool_columns / sizeof *pool_columns);

    if (a->runs[0].n_pools == 0 || a->runs[0].n_pools != b->runs[0].n_pools)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out,
                      "Pools, in percent: got is of what they wanted; entitled: of the CPU that they were "
                      "entitled to; at worst is that of their VMs at the worst time.",
                      0);
    for (uint32_t p = 0; p < a->runs[0].n_pools; p++) {
        for (int k = 0; k < 2; k++) {
            const struct run_set *set = k == 0 ? a : b;

            table_cell(&t, k == 0 ? a->runs[0].pools[p].name : "");
            table_cell(&t, k == 0 ? format_number(arena, a->runs[0].pools[p].vms, "") : "");
            table_cell(&t, k == 0 ? "A" : "B");
            for (size_t f = 0; f < sizeof compared / sizeof *compared; f++)
                table_cell(&t, format_number(arena, pool_figures_spread(set, p, compared[f]).median, "%"));
        }
    }
    table_render(&t, "", out);
}

void report_compare_text(const struct run_set *a, const struct run_set *b, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};

    put_heading(a, b, &scratch, out);
    put_metrics(a, b, &scratch, out);
    put_pools(a, b, &scratch, out);
}
