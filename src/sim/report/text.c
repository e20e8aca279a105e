/* text.c: one run, or the median of several, as text. */
#include "base/cleanup.h"
#include "render/table.h"
#include "sim/report/format.h"
#include "sim/report/pool_figures.h"

static void put_heading(const struct run_set *set, struct arena *a, struct strbuf *out)
{
    const struct scenario *s = set->runs[0].scenario;

    table_put_wrapped(out, arena_printf(a, "%s: %s", s->name, format_run(a, set)), 0);
    table_put_wrapped(out, format_policy(a, s), 0);
    table_put_wrapped(out, format_assumptions(a, s), 0);
    if (set->n > 1)
        strbuf_puts(out, "Each figure is the median of the runs, between the least and the greatest.\n");
}

static const struct column one_run[] = {{"", false, false}, {"", true, false}, {"", false, false}};
static const struct column many_runs[] = {
    {"", false, false},    {"median", true, false}, {"least", true, false},
    {"most", true, false}, {"", false, false},
};

static void add_metric(struct table *t, const struct run_set *set, const struct metric_row *m)
{
    struct spread v = metric_spread(set, m->id);

    table_cellf(t, "  %s", m->label);
    table_cell(t, metric_number(t->a, v.median, m->id));
    if (set->n > 1) {
        table_cell(t, metric_number(t->a, v.least, m->id));
        table_cell(t, metric_number(t->a, v.most, m->id));
    }
    table_cell(t, format_unit(metric_unit(m->id)));
}

/* A group's title is a row, so that the figures of all groups are aligned. */
static void add_title(struct table *t, enum metric_group group)
{
    table_cell(t, metric_group_title(group));
    for (size_t i = 1; i < t->n_columns; i++)
        table_cell(t, "");
}

static void put_metrics(const struct run_set *set, struct arena *a, struct strbuf *out)
{
    struct table t = set->n > 1 ? table_of(a, many_runs, sizeof many_runs / sizeof *many_runs)
                                : table_of(a, one_run, sizeof one_run / sizeof *one_run);
    enum metric_group group = GROUP_COUNT;

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *m = &metric_rows[i];
        if (!metric_applies(set, m))
            continue;
        if (m->group != group)
            add_title(&t, m->group);
        group = m->group;
        add_metric(&t, set, m);
    }
    table_render(&t, "", out);
}

static const struct column pool_columns[] = {
    {"POOL", false}, {"VMS", true},      {"RESOURCE", false},   {"PAYLOAD", true},
    {"GOT", true},   {"ENTITLED", true}, {"VMS AT 95 %", true}, {"AT WORST", true},
};

static void put_figure(struct table *t, const struct run_set *set, uint32_t pool, enum pool_figure f)
{
    table_cell(t, format_number(t->a, pool_figures_spread(set, pool, f).median, "%"));
}

static void put_pools(const struct run_set *set, struct arena *a, struct strbuf *out)
{
    struct table t = table_of(a, pool_columns, sizeof pool_columns / sizeof *pool_columns);

    if (set->runs[0].n_pools == 0)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out,
                      "Pools, in percent: the payload is what they got of what all hosts have; got is of "
                      "what they wanted; entitled: of the CPU that they were entitled to; then the VMs that "
                      "got 95 % of it, and the mean of its VMs at the worst time.",
                      0);
    for (uint32_t p = 0; p < set->runs[0].n_pools; p++) {
        static const enum pool_figure of_cpu[] = {POOL_HAPPINESS_MEAN, POOL_HAPPY_SHARE,
                                                  POOL_HAPPINESS_LEAST};
        static const enum pool_figure of_both[][2] = {{POOL_PAYLOAD_CPU, POOL_GOT_CPU},
                                                      {POOL_PAYLOAD_MEM, POOL_GOT_MEM}};

        for (int r = 0; r < 2; r++) {
            table_cell(&t, r == 0 ? set->runs[0].pools[p].name : "");
            table_cell(&t, r == 0 ? format_number(a, set->runs[0].pools[p].vms, "") : "");
            table_cell(&t, r == 0 ? "CPU" : "memory");
            for (int f = 0; f < 2; f++)
                put_figure(&t, set, p, of_both[r][f]);
            for (int f = 0; f < 3; f++) {
                if (r == 0)
                    put_figure(&t, set, p, of_cpu[f]);
                else
                    table_cell(&t, "");
            }
        }
    }
    table_render(&t, "", out);
}

#define MHZ_S_PER_GHZ_H 3.6e6

static const struct column shortfall_columns[] = {
    {"VM", false, false},         {"MISSING CPU", true, false}, {"OF WANTED", true, false},
    {"OF ENTITLED", true, false}, {"MISSING MEM", true, false},
};

static void put_shortfalls(const struct run_set *set, struct arena *a, struct strbuf *out)
{
    const struct simulation *s = &set->runs[0];
    struct table t = table_of(a, shortfall_columns, sizeof shortfall_columns / sizeof *shortfall_columns);

    if (s->n_shortfalls == 0)
        return;
    strbuf_printf(out, "\nThe VMs that lacked most CPU%s, in GHz h and percent.\n",
                  set->n > 1 ? " in the first run" : "");
    for (uint32_t i = 0; i < s->n_shortfalls; i++) {
        const struct vm_shortfall *v = &s->shortfalls[i];
        table_cell(&t, v->vm);
        table_cell(&t, format_number(a, v->cpu_mhz_s / MHZ_S_PER_GHZ_H, ""));
        table_cell(&t, format_number(a, v->cpu_percent, "%"));
        table_cell(&t, format_number(a, v->entitled_percent, "%"));
        table_cell(&t, format_number(a, v->mem_percent, "%"));
    }
    table_render(&t, "", out);
}

void report_text(const struct run_set *set, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};

    put_heading(set, &scratch, out);
    put_metrics(set, &scratch, out);
    put_pools(set, &scratch, out);
    put_shortfalls(set, &scratch, out);
}
