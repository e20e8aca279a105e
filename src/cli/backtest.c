/* ballast backtest: what other settings would have done with what really happened. Reads the service's store
 * itself, as `ballast backup` does, and simulates without the service. */
#include "backtest/backtest.h"
#include "base/cleanup.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_page.h"
#include "cli/simulate_variant.h"
#include "cli/verbs.h"
#include "config/config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CONFIG_DEFAULT "/etc/ballast/ballast.yaml"

enum { OPT_SET, OPT_SINCE, OPT_CONFIG, OPT_STORE, OPT_KEEP, OPT_REPORT, OPT_NO_PROGRESS, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS,
                 "a setting to try, or a value of the scenario, by its path"},
    [OPT_SINCE] = {"since", "WHEN", 0, "begin with the pass nearest to this time; default 7d"},
    [OPT_CONFIG] = {"config", "FILE", 0, "the service's configuration; default " CONFIG_DEFAULT},
    [OPT_STORE] = {"store", "PATH", 0,
                   "a store, or a copy made by `ballast backup`, in place of the service's"},
    [OPT_KEEP] = {"keep", "DIR", 0, "write the scenario and its files there, for `ballast simulate`"},
    [OPT_REPORT] = {"report", "FILE", 0, "write a page with plots to FILE as HTML; - is standard output"},
    [OPT_NO_PROGRESS] = {"no-progress", NULL, 0, "show no progress bar"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

struct backtest_args {
    bool json;
    instant_s since;
    const char *store;               /* a folder, or a file */
    const struct schedule *schedule; /* NULL: not known */
    const char *keep, *report;
    struct overrides sets;
    const char *label; /* of the sets; NULL: there are none */
};

/* ---- arguments ---- */

/* The configuration says where the store is, and the schedule. A store of its own needs none. */
static enum exit_code read_config(const struct args *args, struct arena *a, struct backtest_args *ret)
{
    const char *path = args_value(args, OPT_CONFIG, NULL);
    struct config *config = arena_new(a, struct config);
    struct err err = {0};

    ret->store = args_value(args, OPT_STORE, NULL);
    if (ret->store && !path)
        return EXIT_DONE;
    if (config_load_for(path ? path : CONFIG_DEFAULT, CONFIG_FOR_POLICY, a, config, &err) < 0)
        return cli_fail(EXIT_WRONG, "%s%s", err.text,
                        err.code == -ENOENT && !path ? "; --config or --store names another" : "");
    ret->schedule = &config->schedule;
    if (!ret->store)
        ret->store = config->state_dir;
    return EXIT_DONE;
}

static enum exit_code read_args(const struct args *args, struct arena *a, struct backtest_args *ret)
{
    const struct option_values *sets = &args->options[OPT_SET];
    enum exit_code code;

    ret->json = args->json;
    ret->keep = args_value(args, OPT_KEEP, NULL);
    ret->report = args_value(args, OPT_REPORT, NULL);
    if ((code = cli_parse_time("since", args_value(args, OPT_SINCE, "7d"), &ret->since)) != EXIT_DONE)
        return code;
    for (size_t i = 0; i < sets->n; i++) {
        if ((code = simulate_variant_add_override(&ret->sets, "set", sets->items[i], a)) != EXIT_DONE)
            return code;
        ret->label = ret->label ? arena_printf(a, "%s,%s", ret->label, sets->items[i]) : sets->items[i];
    }
    return read_config(args, a, ret);
}

/* ---- recording and scenario ---- */

static enum exit_code read_recording(const struct backtest_args *asked, struct arena *a,
                                     struct recording *ret)
{
    struct store *s = NULL;
    struct err err = {0};
    int r = store_open_to_read(asked->store, &s, &err);

    if (r == 0)
        r = recording_read(s, asked->since, (instant_s)time(NULL), a, ret, &err);
    store_close(s);
    if (r == 0)
        return EXIT_DONE;
    /* all demand of a week is too much to ask of the service, which has decisions to make */
    return cli_fail(EXIT_FAILED, "ballast backtest: %s%s", err.text,
                    r == -EACCES ? "; else --store names a copy, which they can make by `ballast backup`"
                                 : "");
}

static enum exit_code keep_file(const char *dir, const char *name, const char *text, size_t len,
                                struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    strbuf_add(&out, text, len);
    return cli_write_file(arena_printf(a, "%s/%s", dir, name), &out);
}

static enum exit_code keep_files(const char *dir, const struct recording *r, const char *scenario,
                                 struct arena *a)
{
    enum exit_code code;

    if (mkdir(dir, 0777) < 0 && errno != EEXIST)
        return cli_fail(EXIT_FAILED, "--keep: %s: %s", dir, strerror(errno));
    if ((code = keep_file(dir, BACKTEST_SNAPSHOT, r->snapshot_text, strlen(r->snapshot_text), a)) !=
            EXIT_DONE ||
        (code = keep_file(dir, BACKTEST_SAMPLES, r->samples, r->samples_len, a)) != EXIT_DONE)
        return code;
    return keep_file(dir, BACKTEST_SCENARIO, scenario, strlen(scenario), a);
}

/* ---- simulations ---- */

/* The settings in force, then those to try; both are read before the first runs. */
static enum exit_code run_both(const struct backtest_args *asked, const struct simulate_variant_options *runs,
                               struct progress *progress, struct arena *a, struct run_set ret[2])
{
    const struct simulate_variant_options changed = {.file = runs->file,
                                                     .text = runs->text,
                                                     .texts = runs->texts,
                                                     .common = asked->sets,
                                                     .n_runs = 1,
                                                     .series = runs->series};
    struct simulate_variant variants[2];
    size_t n = asked->label ? 2 : 1;
    enum exit_code code = simulate_variant_read(runs, NULL, a, &variants[0]);

    if (code == EXIT_DONE && n == 2)
        code = simulate_variant_read(&changed, NULL, a, &variants[1]);
    variants[0].label = "as it was set";
    variants[1].label = asked->label;
    for (size_t i = 0; code == EXIT_DONE && i < n; i++)
        code = simulate_variant_run(&variants[i], progress, (double)i / (double)n,
                                    (double)(i + 1) / (double)n, a, &ret[i]);
    return code;
}

static enum exit_code put(const struct backtest_args *asked, const struct recording *r,
                          const struct run_set sets[2], const struct backtest_notes *notes, struct arena *a,
                          struct strbuf *out)
{
    const struct run_set *b = asked->label ? &sets[1] : NULL;

    if (asked->report) {
        enum exit_code code = report_page_write(asked->report, &sets[0], b, a);
        if (code != EXIT_DONE || strcmp(asked->report, "-") == 0)
            return code;
    }
    if (asked->json) {
        backtest_json(r, &sets[0], b, notes, out);
        return EXIT_DONE;
    }
    backtest_text(r, &sets[0].runs[0], notes, a, out);
    if (b)
        report_compare_text(&sets[0], b, out);
    else
        report_text(&sets[0], out);
    return EXIT_DONE;
}

static enum exit_code verb_backtest_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct backtest_args asked = {0};
    struct backtest_notes notes = {0};
    struct recording rec;
    struct progress progress;
    struct run_set sets[2];
    CLEANUP(strbuf_releasep) struct strbuf scenario = STRBUF_EMPTY;
    struct trace_texts texts = {.a = a};
    enum exit_code code;

    if ((code = read_args(args, a, &asked)) != EXIT_DONE ||
        (code = read_recording(&asked, a, &rec)) != EXIT_DONE)
        return code;
    backtest_scenario(&rec, asked.schedule, a, &scenario, &notes);
    if (asked.keep && (code = keep_files(asked.keep, &rec, scenario.text, a)) != EXIT_DONE)
        return code;
    trace_texts_add(&texts, BACKTEST_SNAPSHOT, rec.snapshot_text, strlen(rec.snapshot_text));
    trace_texts_add(&texts, BACKTEST_SAMPLES, rec.samples, rec.samples_len);
    const struct simulate_variant_options runs = {.file = BACKTEST_SCENARIO,
                                                  .text = scenario.text,
                                                  .texts = &texts,
                                                  .n_runs = 1,
                                                  .series = asked.report != NULL};

    progress_begin(&progress, args->options[OPT_NO_PROGRESS].n == 0);
    code = run_both(&asked, &runs, &progress, a, sets);
    progress_end(&progress);
    return code == EXIT_DONE ? put(&asked, &rec, sets, &notes, a, out) : code;
}

const struct verb verb_backtest = {
    .name = "backtest",
    .summary = "Simulate the recorded past with other settings.",
    .more =
        "Takes the snapshot of a recorded pass and the demand of each VM since then. Simulates both with the "
        "settings that were in force, and again with those of --set, and compares the two. First come how "
        "closely the simulation with the settings in force agrees with the recorded past, and a list of what "
        "the simulation does not repeat.\n\n"
        "  ballast backtest --set dpm.enabled=true --since 7d\n"
        "  ballast backtest --set automation=full --set migration_threshold=4\n"
        "  ballast backtest --store copy.db --since 2026-01-05\n\n"
        "Reads the store only: the service is neither asked nor changed. The user must be root or the "
        "service's, or have a copy of its store (--store) that one of them has made by `ballast backup`. "
        "The demand of VMs does not react to moves, and of days before the last one only means of quarters "
        "of an hour are kept: ballast-simulate(5) has the limits.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_backtest_run,
};
