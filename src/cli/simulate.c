/* ballast simulate: runs scenarios and prints, compares or plots the result. */
#include "base/cleanup.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_page.h"
#include "cli/simulate_variant.h"
#include "cli/verbs.h"
#include "sim/report/report.h"

#include <string.h>

enum {
    OPT_SET,
    OPT_SEED,
    OPT_SEEDS,
    OPT_COMPARE,
    OPT_SERIES,
    OPT_REPORT,
    OPT_NO_PROGRESS,
    OPT_FORMAT,
};

static const struct option_spec options[] = {
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one value of the scenario, by its path"},
    [OPT_SEED] = {"seed", "N", 0, "use this seed instead of the scenario's"},
    [OPT_SEEDS] = {"seeds", "N", 0, "run N times, with this seed and the next ones; show medians and ranges"},
    [OPT_COMPARE] = {"compare", "A B", OPTION_PAIR,
                     "compare two variants on the same workload and seed, see below"},
    [OPT_SERIES] = {"series", "FILE", 0, "write the figures over time to FILE as CSV; - is standard output"},
    [OPT_REPORT] = {"report", "FILE", 0, "write a page with plots to FILE as HTML; - is standard output"},
    [OPT_NO_PROGRESS] = {"no-progress", NULL, 0, "show no progress bar"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

#define SEEDS_MAX 1000
#define SEED_MAX (INT64_MAX - SEEDS_MAX) /* the last seed must fit into a JSON number */

struct simulate_args {
    bool json;
    struct simulate_variant_options runs;
    const char *series, *report; /* NULL: not requested */
    const char *const *compared; /* two lists of overrides, or NULL */
};

static enum exit_code read_counts(const struct args *args, struct simulate_args *ret)
{
    const char *seed = args_value(args, OPT_SEED, NULL);
    unsigned long long n;
    enum exit_code code;

    if (seed) {
        if ((code = cli_parse_number("seed", seed, 0, SEED_MAX, &n)) != EXIT_DONE)
            return code;
        ret->runs.seed_given = true;
        ret->runs.seed = n;
    }
    if ((code = cli_parse_number("seeds", args_value(args, OPT_SEEDS, "1"), 0, SEEDS_MAX, &n)) != EXIT_DONE)
        return code;
    if (n == 0)
        return cli_fail(EXIT_WRONG, "--seeds: expected 1 or more");
    ret->runs.n_runs = (size_t)n;
    return EXIT_DONE;
}

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static enum exit_code read_args(const struct args *args, struct arena *a, struct simulate_args *ret)
{
    enum exit_code code;

    ret->json = args->json;
    ret->runs.file = args->operands[0];
    ret->runs.texts = arena_new(a, struct trace_texts);
    ret->runs.texts->a = a;
    ret->series = args_value(args, OPT_SERIES, NULL);
    ret->report = args_value(args, OPT_REPORT, NULL);
    ret->runs.series = ret->series || ret->report;
    ret->compared = args->options[OPT_COMPARE].n > 0 ? args->options[OPT_COMPARE].items : NULL;
    if ((code = read_counts(args, ret)) != EXIT_DONE)
        return code;
    if (is_stdout(ret->series) && is_stdout(ret->report))
        return cli_fail(EXIT_WRONG,
                        "ballast simulate: --series and --report cannot both go to standard output");
    for (size_t i = 0; i < args->options[OPT_SET].n; i++) {
        code = simulate_variant_add_override(&ret->runs.common, "set", args->options[OPT_SET].items[i], a);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static enum exit_code put_series(const char *path, const struct run_set *a, const struct run_set *b)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;

    if (!path)
        return EXIT_DONE;
    report_series_csv(a->runs, b ? b->runs : NULL, &text);
    return cli_write_file(path, &text);
}

/* Writes the files first: if one fails, nothing is printed. */
static enum exit_code put(const struct simulate_args *asked, const struct run_set *a, const struct run_set *b,
                          struct arena *arena, struct strbuf *out)
{
    enum exit_code code = put_series(asked->series, a, b);

    if (code == EXIT_DONE && asked->report)
        code = report_page_write(asked->report, a, b, arena);
    if (code != EXIT_DONE || is_stdout(asked->series) || is_stdout(asked->report))
        return code;
    if (b)
        (asked->json ? report_compare_json : report_compare_text)(a, b, out);
    else
        (asked->json ? report_json : report_text)(a, out);
    return EXIT_DONE;
}

/* One variant, or two to compare: all are read before the first runs. */
static enum exit_code run_sides(const struct simulate_args *asked, struct progress *progress, struct arena *a,
                                struct run_set ret[2])
{
    size_t n = asked->compared ? 2 : 1;
    struct simulate_variant variants[2];

    for (size_t i = 0; i < n; i++) {
        enum exit_code code =
            simulate_variant_read(&asked->runs, asked->compared ? asked->compared[i] : NULL, a, &variants[i]);
        if (code != EXIT_DONE)
            return code;
    }
    for (size_t i = 0; i < n; i++) {
        enum exit_code code = simulate_variant_run(&variants[i], progress, (double)i / (double)n,
                                                   (double)(i + 1) / (double)n, a, &ret[i]);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static enum exit_code verb_simulate_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct simulate_args asked = {0};
    struct progress progress;
    struct run_set sets[2];
    enum exit_code code = read_args(args, a, &asked);

    if (code != EXIT_DONE)
        return code;
    progress_begin(&progress, args->options[OPT_NO_PROGRESS].n == 0);
    code = run_sides(&asked, &progress, a, sets);
    progress_end(&progress);
    return code == EXIT_DONE ? put(&asked, &sets[0], asked.compared ? &sets[1] : NULL, a, out) : code;
}

const struct verb verb_simulate = {
    .name = "simulate",
    .summary = "Run a simulated cluster over time with the service's own decision code.",
    .more =
        "SCENARIO is a YAML file, see the examples simulate-*.yaml. KEY is the path of "
        "a value in it (duration_s, vms.web.count) or a setting (dpm.enabled). The same scenario and seed "
        "give the same figures.\n\n"
        "--compare takes two comma-separated lists of KEY=VALUE; \"\" is the scenario unchanged:\n"
        "  ballast simulate week.yaml --compare \"\" \"dpm.enabled=true,dpm.ratio=20\"\n"
        "Demand is the same in both. Shown are each figure, the difference, and which is better. With "
        "--seeds, --series and --report show the first run.",
    .operands = "SCENARIO",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_simulate_run,
};
