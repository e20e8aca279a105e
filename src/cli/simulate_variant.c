/* simulate_variant.c: one variant of a scenario: its overrides, and its runs with one seed or several. */
#include "cli/simulate_variant.h"

#include "cli/input.h"
#include "cli/output.h"

#include <ctype.h>
#include <string.h>

enum exit_code simulate_variant_add_override(struct overrides *list, const char *option, const char *text,
                                             struct arena *a)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text)
        return cli_fail(EXIT_WRONG, "--%s: \"%s\" has no %s, expected KEY=VALUE", option, text,
                        equals ? "key before its =" : "=");
    list->items = arena_grow(a, list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n++] = (struct scenario_override){
        .path = arena_strndup(a, text, (size_t)(equals - text)),
        .value = equals + 1,
        .option = option,
    };
    return EXIT_DONE;
}

/* Whether "PATH=" begins here. */
static bool begins_override(const char *text)
{
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-' || text[n] == '.')
        n++;
    return n > 0 && text[n] == '=';
}

/* Adds a list, "dpm.enabled=true,dpm.ratio=20": a comma ends a value where the next PATH= follows, so that a
 * value may have commas. "": nothing. */
static enum exit_code add_override_list(struct overrides *list, const char *option, const char *text,
                                        struct arena *a)
{
    while (*text) {
        const char *end = strchr(text, ',');
        while (end && !begins_override(end + 1))
            end = strchr(end + 1, ',');
        const char *one = end ? arena_strndup(a, text, (size_t)(end - text)) : text;
        enum exit_code code = simulate_variant_add_override(list, option, one, a);
        if (code != EXIT_DONE)
            return code;
        text = end ? end + 1 : "";
    }
    return EXIT_DONE;
}

static enum exit_code read_scenario(const struct simulate_variant *variant, bool seed_given, uint64_t seed,
                                    struct arena *a, struct scenario *ret)
{
    const struct scenario_options options = {
        .overrides = variant->all.items,
        .n_overrides = variant->all.n,
        .seed_given = seed_given,
        .seed = seed,
        .texts = variant->options->texts,
    };
    const char *file = variant->options->file;
    const char *text = variant->options->text;
    struct err err = {0};
    int r = text ? scenario_parse(file, text, strlen(text), &options, a, ret, &err)
                 : scenario_read(file, &options, a, ret, &err);

    if (r < 0)
        return cli_fail(EXIT_WRONG, "%s", err.text);
    return EXIT_DONE;
}

static void warn(const struct simulate_variant *variant)
{
    const char *key;
    const char *warning = policy_warning(&variant->first.policy, &key);

    for (size_t i = 0; i < variant->first.n_warnings; i++)
        cli_error("warning: %s", variant->first.warnings[i]);
    if (warning && variant->first.ballast)
        cli_error("warning: %s", warning);
}

enum exit_code simulate_variant_read(const struct simulate_variant_options *options, const char *own,
                                     struct arena *a, struct simulate_variant *ret)
{
    struct simulate_variant variant = {.options = options,
                                       .label = own && *own ? own : "the scenario as it is"};
    enum exit_code code;

    for (size_t i = 0; i < options->common.n; i++) {
        variant.all.items =
            arena_grow(a, variant.all.items, variant.all.n, &variant.all.cap, sizeof *variant.all.items);
        variant.all.items[variant.all.n++] = options->common.items[i];
    }
    if ((code = add_override_list(&variant.all, "compare", own ? own : "", a)) != EXIT_DONE ||
        (code = read_scenario(&variant, options->seed_given, options->seed, a, &variant.first)) != EXIT_DONE)
        return code;
    warn(&variant);
    *ret = variant;
    return EXIT_DONE;
}

/* One run with its own scenario, which differs from the first in the seed only. */
static enum exit_code run_once(const struct simulate_variant *variant, size_t i, struct progress *progress,
                               struct arena *a, struct simulation *ret)
{
    struct scenario *s = arena_new(a, struct scenario);
    const struct simulate_options options = {
        .series = variant->options->series && i == 0,
        .host_series = variant->options->series && i == 0,
        .progress = progress_step,
        .ctx = progress,
        .clock_us = cli_now_us,
    };
    struct err err = {0};

    *s = variant->first;
    if (i > 0) {
        enum exit_code code = read_scenario(variant, true, variant->first.seed + i, a, s);
        if (code != EXIT_DONE)
            return code;
    }
    if (simulate(s, &options, a, ret, &err) < 0)
        return cli_fail(EXIT_FAILED, "ballast simulate: %s", err.text);
    return EXIT_DONE;
}

enum exit_code simulate_variant_run(const struct simulate_variant *variant, struct progress *progress,
                                    double from, double to, struct arena *a, struct run_set *ret)
{
    size_t n = variant->options->n_runs;
    struct simulation *runs = arena_array(a, struct simulation, n);
    double part = (to - from) / (double)n;

    for (size_t i = 0; i < n; i++) {
        const char *what = n > 1 ? arena_printf(a, "seed %zu of %zu", i + 1, n) : "";
        progress_part(progress, what, from + part * (double)i, from + part * (double)(i + 1));
        enum exit_code code = run_once(variant, i, progress, a, &runs[i]);
        if (code != EXIT_DONE)
            return code;
    }
    *ret = (struct run_set){.label = variant->label, .runs = runs, .n = n};
    return EXIT_DONE;
}
