/* simulate_variant.h: a scenario with overrides, run once or with several seeds. `ballast simulate` runs one
 * variant; with --compare it runs two. */
#ifndef BALLAST_CLI_SIMULATE_VARIANT_H
#define BALLAST_CLI_SIMULATE_VARIANT_H

#include "cli/progress.h"
#include "cli/verb.h"
#include "sim/report/report.h"

struct overrides {
    struct scenario_override *items;
    size_t n, cap;
};

struct simulate_variant_options {
    const char *file;
    const char *text;        /* of the scenario, in place of the file's; NULL: the file is read */
    struct overrides common; /* --set */
    bool seed_given;
    uint64_t seed;
    size_t n_runs;             /* one for each seed */
    bool series;               /* keep the series of the first run */
    struct trace_texts *texts; /* instead of files, and standard input once it was read */
};

struct simulate_variant {
    const struct simulate_variant_options *options;
    const char *label;
    struct overrides all; /* the common overrides, then its own */
    struct scenario first;
};

/* Adds one PATH=VALUE. `option` is named in errors. */
enum exit_code simulate_variant_add_override(struct overrides *list, const char *option, const char *text,
                                             struct arena *a);

/* Reads the scenario with its overrides, so that errors appear before any run. own: the list of --compare;
 * NULL: none. */
enum exit_code simulate_variant_read(const struct simulate_variant_options *options, const char *own,
                                     struct arena *a, struct simulate_variant *ret);

/* Runs all seeds of the variant. `from` to `to`: its part of the progress. */
enum exit_code simulate_variant_run(const struct simulate_variant *variant, struct progress *progress,
                                    double from, double to, struct arena *a, struct run_set *ret);

#endif
