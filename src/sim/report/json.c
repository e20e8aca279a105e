/* json.c: ballast-simulation/1 and ballast-comparison/1. */
#include "base/json_writer.h"
#include "base/rfc3339.h"
#include "render/render.h"
#include "schema/writer.h"
#include "sim/report/compare.h"
#include "sim/report/pool_figures.h"

static void put_run_metrics(struct json_writer *w, const struct simulation *s)
{
    jw_begin(w, "metrics", JW_OBJECT, JW_LINES);
    for (int m = 0; m < METRIC_COUNT; m++)
        jw_figure(w, metric_name((enum metric_id)m), metric_of(s, (enum metric_id)m));
    jw_end(w);
}

static void put_run_pools(struct json_writer *w, const struct run_set *set)
{
    const struct simulation *s = &set->runs[0];

    jw_begin(w, "pools", JW_OBJECT, JW_LINES);
    for (uint32_t p = 0; p < s->n_pools; p++) {
        jw_begin(w, s->pools[p].name, JW_OBJECT, JW_INLINE);
        jw_int(w, "vms", s->pools[p].vms);
        for (int f = 0; f < POOL_FIGURE_COUNT; f++)
            jw_figure(w, pool_figure_name((enum pool_figure)f),
                      pool_figures_spread(set, p, (enum pool_figure)f).median);
        jw_end(w);
    }
    jw_end(w);
}

/* The VMs of one run that lacked most CPU, the worst first. */
static void put_shortfalls(struct json_writer *w, const struct simulation *s)
{
    jw_begin(w, "vms_lacking_most", JW_ARRAY, JW_LINES);
    for (uint32_t i = 0; i < s->n_shortfalls; i++) {
        const struct vm_shortfall *v = &s->shortfalls[i];
        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "vm", v->vm);
        jw_figure(w, "missing_cpu_mhz_s", v->cpu_mhz_s);
        jw_figure(w, "missing_cpu_percent", v->cpu_percent);
        jw_figure(w, "missing_entitlement_percent", v->entitled_percent);
        jw_figure(w, "missing_mem_percent", v->mem_percent);
        jw_end(w);
    }
    jw_end(w);
}

static void put_medians(struct json_writer *w, const struct run_set *set)
{
    jw_begin(w, "metrics", JW_OBJECT, JW_LINES);
    for (int m = 0; m < METRIC_COUNT; m++)
        jw_figure(w, metric_name((enum metric_id)m), metric_spread(set, (enum metric_id)m).median);
    jw_end(w);
    jw_begin(w, "range", JW_OBJECT, JW_LINES);
    for (int m = 0; m < METRIC_COUNT; m++) {
        struct spread v = metric_spread(set, (enum metric_id)m);
        jw_begin(w, metric_name((enum metric_id)m), JW_ARRAY, JW_INLINE);
        jw_figure(w, NULL, v.least);
        jw_figure(w, NULL, v.most);
        jw_end(w);
    }
    jw_end(w);
}

static void put_runs(struct json_writer *w, const struct run_set *set)
{
    jw_begin(w, "runs", JW_ARRAY, JW_LINES);
    for (size_t i = 0; i < set->n; i++) {
        jw_begin(w, NULL, JW_OBJECT, JW_LINES);
        jw_int(w, "seed", (int64_t)set->runs[i].scenario->seed);
        put_run_metrics(w, &set->runs[i]);
        put_run_pools(w, &(struct run_set){.runs = &set->runs[i], .n = 1});
        put_shortfalls(w, &set->runs[i]);
        jw_end(w);
    }
    jw_end(w);
}

/* The results of a set; the members of the scenario stand before them. */
static void put_results(struct json_writer *w, const struct run_set *set)
{
    if (set->n == 1)
        put_run_metrics(w, &set->runs[0]);
    else
        put_medians(w, set);
    put_run_pools(w, set);
    if (set->n > 1)
        put_runs(w, set);
    else
        put_shortfalls(w, &set->runs[0]);
}

static void put_scenario(struct json_writer *w, const struct run_set *set)
{
    const struct simulation *run = &set->runs[0];
    const struct scenario *s = run->scenario;
    char text[RFC3339_MAX];

    jw_text(w, "scenario", s->name);
    jw_int(w, "seed", (int64_t)s->seed);
    jw_int(w, "seeds", (int64_t)set->n);
    jw_text(w, "start", rfc3339_format(s->start, text));
    jw_figure(w, "duration_s", s->duration_s);
    jw_figure(w, "measured_s", run->duration_s);
    jw_int(w, "hosts", s->initial.n_hosts);
    jw_int(w, "vms", s->initial.n_vms);
}

static void put_policy(struct json_writer *w, const struct run_set *set)
{
    jw_bool(w, "ballast", set->runs[0].scenario->ballast);
    writer_lines(w, "policy", &policy_settings, &set->runs[0].scenario->policy);
}

void report_json(const struct run_set *set, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-simulation/1");
    put_scenario(&w, set);
    put_policy(&w, set);
    put_results(&w, set);
    jw_end(&w);
    strbuf_puts(out, "\n");
}

static void put_side(struct json_writer *w, const char *key, const struct run_set *set)
{
    jw_begin(w, key, JW_OBJECT, JW_LINES);
    jw_text(w, "label", set->label);
    put_policy(w, set);
    put_results(w, set);
    jw_end(w);
}

static void put_difference(struct json_writer *w, const struct metric_row *m, const struct run_set *a,
                           const struct run_set *b)
{
    static const char *const which[] = {"a", NULL, "b"};
    double from = metric_spread(a, m->id).median;
    double to = metric_spread(b, m->id).median;

    jw_begin(w, metric_name(m->id), JW_OBJECT, JW_INLINE);
    jw_figure(w, "difference", to - from);
    jw_figure(w, "percent", 100 * (to - from) / from);
    jw_text(w, "better", which[metric_judge(m, from, to) + 1]);
    if (a->n > 1) {
        jw_int(w, "seeds_a_better", (int64_t)compare_seeds_better(m, a, b, -1));
        jw_int(w, "seeds_b_better", (int64_t)compare_seeds_better(m, a, b, 1));
    }
    jw_end(w);
}

void report_compare_json(const struct run_set *a, const struct run_set *b, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_LINES);
    jw_text(&w, "format", "ballast-simulation-comparison/1");
    put_scenario(&w, a);
    put_side(&w, "a", a);
    put_side(&w, "b", b);
    jw_begin(&w, "differences", JW_OBJECT, JW_LINES);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        put_difference(&w, &metric_rows[i], a, b);
    jw_end(&w);
    jw_end(&w);
    strbuf_puts(out, "\n");
}
