/* simulate: a cluster over time, driven by the service's engine. */
#include "base/cleanup.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/simulate_sides.h"
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
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "change one value of the scenario, by its path in it"},
    [OPT_SEED] = {"seed", "N", 0, "instead of the scenario's; the same seed gives the same run"},
    [OPT_SEEDS] = {"seeds", "N", 0, "so many runs, with this seed and those after it; medians and ranges"},
    [OPT_COMPARE] = {"compare", "A B", OPTION_PAIR,
                     "two runs on the same workload and seed, each with its own changes, see below"},
    [OPT_SERIES] = {"series", "FILE", 0, "write the figures over time there, as CSV; - for standard output"},
    [OPT_REPORT] = {"report", "FILE", 0, "write a page with plots there, as HTML; - for standard output"},
    [OPT_NO_PROGRESS] = {"no-progress", NULL, 0, "draw no progress bar, on a terminal either"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

#define SEEDS_MAX 1000
#define SEED_MAX (INT64_MAX - SEEDS_MAX) /* the last of them is a number of JSON, too */

struct asked {
    enum cli_format format;
    struct side_options runs;
    const char *series, *report; /* NULL: not asked for */
    const char *const *compared; /* two lists of changes, or NULL */
};

static enum exit_code read_counts(const struct args *args, struct asked *ret)
{
    const char *seed = args_value(args, OPT_SEED, NULL);
    unsigned long long n;
    enum exit_code code;

    if (seed) {
        if ((code = cli_number("seed", seed, SEED_MAX, &n)) != EXIT_DONE)
            return code;
        ret->runs.seed_given = true;
        ret->runs.seed = n;
    }
    if ((code = cli_number("seeds", args_value(args, OPT_SEEDS, "1"), SEEDS_MAX, &n)) != EXIT_DONE)
        return code;
    if (n == 0) {
        cli_error("--seeds: 0 runs give no figures, expected 1 or more");
        return EXIT_WRONG;
    }
    ret->runs.n_runs = (size_t)n;
    return EXIT_DONE;
}

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static enum exit_code read_args(const struct args *args, struct arena *a, struct asked *ret)
{
    enum exit_code code;

    ret->runs.file = args->operands[0];
    ret->series = args_value(args, OPT_SERIES, NULL);
    ret->report = args_value(args, OPT_REPORT, NULL);
    ret->runs.series = ret->series || ret->report;
    ret->compared = args->options[OPT_COMPARE].n > 0 ? args->options[OPT_COMPARE].items : NULL;
    if ((code = cli_format(args, OPT_FORMAT, &ret->format)) != EXIT_DONE ||
        (code = read_counts(args, ret)) != EXIT_DONE)
        return code;
    if (is_stdout(ret->series) && is_stdout(ret->report)) {
        cli_error("ballast simulate: --series and --report cannot both go to standard output");
        return EXIT_WRONG;
    }
    for (size_t i = 0; i < args->options[OPT_SET].n; i++) {
        code = overrides_add(&ret->runs.common, "set", args->options[OPT_SET].items[i], a);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static enum exit_code put_file(const char *path, bool html, const struct run_set *a, const struct run_set *b)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};

    if (!path)
        return EXIT_DONE;
    strbuf_init(&text, STRBUF_NO_LIMIT);
    if (html)
        report_html(a, b, &text);
    else
        report_series_csv(a->runs, b ? b->runs : NULL, &text);
    return cli_write_file(path, &text);
}

/* Files first: when one cannot be written, nothing is printed. */
static enum exit_code put(const struct asked *asked, const struct run_set *a, const struct run_set *b,
                          struct strbuf *out)
{
    enum exit_code code = put_file(asked->series, false, a, b);

    if (code == EXIT_DONE)
        code = put_file(asked->report, true, a, b);
    if (code != EXIT_DONE || is_stdout(asked->series) || is_stdout(asked->report))
        return code;
    if (b)
        (asked->format == FORMAT_JSON ? report_compare_json : report_compare_text)(a, b, out);
    else
        (asked->format == FORMAT_JSON ? report_json : report_text)(a, out);
    return EXIT_DONE;
}

/* One side, or the two that are compared: read first, run then. */
static enum exit_code run_sides(const struct asked *asked, struct progress *progress, struct arena *a,
                                struct run_set ret[2])
{
    size_t n = asked->compared ? 2 : 1;
    struct side sides[2];

    for (size_t i = 0; i < n; i++) {
        enum exit_code code =
            side_read(&asked->runs, asked->compared ? asked->compared[i] : NULL, a, &sides[i]);
        if (code != EXIT_DONE)
            return code;
    }
    for (size_t i = 0; i < n; i++) {
        enum exit_code code =
            side_run(&sides[i], progress, (double)i / (double)n, (double)(i + 1) / (double)n, a, &ret[i]);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct asked asked = {0};
    struct progress progress;
    struct run_set sets[2];
    enum exit_code code = read_args(args, a, &asked);

    if (code != EXIT_DONE)
        return code;
    progress_begin(&progress, args->options[OPT_NO_PROGRESS].n == 0);
    code = run_sides(&asked, &progress, a, sets);
    progress_end(&progress);
    return code == EXIT_DONE ? put(&asked, &sets[0], asked.compared ? &sets[1] : NULL, out) : code;
}

const struct verb verb_simulate = {
    .name = "simulate",
    .summary = "Runs a simulated cluster over time, driven by the same decision code.",
    .more =
        "SCENARIO is a YAML file, see conf/examples/simulate-*.yaml. KEY is a value's place in it, with "
        "dots\n"
        "(duration_s, vms.web.count), or a setting (dpm.enabled): conf/names.md. The same scenario and seed\n"
        "give the same figures.\n\n"
        "--compare takes two lists of such changes with commas between; \"\" is the scenario as it is:\n"
        "  ballast simulate week.yaml --compare \"\" \"dpm.enabled=true,dpm.ratio=20\"\n"
        "VMs want the same at the same time in both. Printed is each figure, the difference, and which is\n"
        "better. Of several seeds --series and --report show the first.",
    .operands = "SCENARIO",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = run,
};
