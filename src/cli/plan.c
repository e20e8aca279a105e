/* ballast plan: one pass on a snapshot. */
#include "cli/client.h"
#include "cli/decide.h"
#include "cli/verbs.h"

#include <string.h>

enum {
    OPT_SNAPSHOT,
    OPT_PASS,
    OPT_SOCKET,
    OPT_CONFIG,
    OPT_OBJECTIVE,
    OPT_SLOT,
    OPT_MOVES_MAX,
    OPT_TARGET,
    OPT_BOUND,
    OPT_SET,
    OPT_FORMAT
};

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_PASS] =
        {"pass", "N", 0,
         "make this past pass of the service again, from its own snapshot and with its own settings"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_OBJECTIVE] =
        {"objective", "balance|room", 0,
         "balance evens load out; room makes as much room as possible for VMs of the size of --slot"},
    [OPT_SLOT] = {"slot", "SIZE", 0,
                  "size of the VMs that room is counted and made for: cpus=N, mem_mb=MIB, numa=CELLS, "
                  "several with commas"},
    [OPT_MOVES_MAX] = {"moves-max", "N", 0, "maximum number of migrations in the plan"},
    [OPT_TARGET] = {"target", "IMBALANCE", 0, "imbalance at which balancing ends"},
    [OPT_BOUND] = {"bound", NULL, 0, "say how even any plan of as many moves could be at best"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void add_value(struct option_values *v, struct arena *a, const char *text)
{
    v->items = arena_grow(a, v->items, v->n, &v->cap, sizeof *v->items);
    v->items[v->n++] = text;
}

/* The setting that a part of --slot stands for, as KEY=VALUE. NULL: none. */
static const char *slot_setting(const char *part, struct arena *a)
{
    static const char *const settings[][2] = {
        {"cpus=", "room.cpus="}, {"mem_mb=", "room.mem_mb="}, {"numa=", "room.cells="}};

    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        size_t n = strlen(settings[i][0]);
        if (strncmp(part, settings[i][0], n) == 0)
            return arena_printf(a, "%s%s", settings[i][1], part + n);
    }
    return NULL;
}

/* The options that stand for settings, as KEY=VALUE, before those of --set. */
static enum exit_code add_settings(const struct args *args, struct arena *a, struct option_values *ret)
{
    const char *objective = args_value(args, OPT_OBJECTIVE, NULL);
    const char *slot = args_value(args, OPT_SLOT, NULL);
    const char *moves_max = args_value(args, OPT_MOVES_MAX, NULL);
    const char *target = args_value(args, OPT_TARGET, NULL);
    const struct option_values *sets = &args->options[OPT_SET];
    const char *part = slot;

    if (objective && strcmp(objective, "room") == 0 && !slot && sets->n == 0)
        return cli_fail(
            EXIT_WRONG,
            "--objective room: --slot is missing, expected the size of the VMs, as in --slot cpus=16");
    if (objective)
        add_value(ret, a, arena_printf(a, "objective=%s", objective));
    if (moves_max)
        add_value(ret, a, arena_printf(a, "moves_max=%s", moves_max));
    if (target)
        add_value(ret, a, arena_printf(a, "target=%s", target));
    if (args->options[OPT_BOUND].n > 0)
        add_value(ret, a, "bound=true");
    while (part) {
        size_t n = strcspn(part, ",");
        const char *setting = slot_setting(arena_strndup(a, part, n), a);

        if (!setting)
            return cli_fail(EXIT_WRONG,
                            "--slot: \"%s\" is not known, expected cpus=N, mem_mb=MIB or numa=CELLS",
                            arena_strndup(a, part, n));
        add_value(ret, a, setting);
        part = part[n] ? part + n + 1 : NULL;
    }
    for (size_t i = 0; i < sets->n; i++)
        add_value(ret, a, sets->items[i]);
    return EXIT_DONE;
}

static enum exit_code verb_plan_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    struct option_values sets = {0};
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &sets};
    const struct decision_question question = {.kind = DECISION_PLAN};
    const char *pass = args_value(args, OPT_PASS, NULL);
    unsigned long long number = 0;
    enum exit_code code;

    if ((code = add_settings(args, a, &sets)) != EXIT_DONE ||
        (pass && (code = cli_parse_number("pass", pass, 0, INT64_MAX, &number)) != EXIT_DONE))
        return code;
    if (pass && number == 0)
        return cli_fail(EXIT_WRONG, "--pass: passes are numbered from 1, `ballast passes` lists them");
    if (pass && (paths.snapshot || paths.config))
        return cli_fail(EXIT_WRONG, "--pass has no meaning with --%s",
                        paths.snapshot ? "snapshot" : "config");
    return cli_decide(args, &paths, &question, number, a, out);
}

const struct verb verb_plan = {
    .name = "plan",
    .summary = "Decide once from a snapshot and print the recommendations.",
    .more =
        "LOAD: what the VMs of a host are entitled to, in percent of what the host has for VMs. PRIO: 1 "
        "is mandatory, 5 a slight improvement. IMBALANCE: once this action and "
        "those before it are done. NEEDS: actions that must be done first. GROUP: actions that "
        "only make sense together. The same snapshot and settings give the same plan, except for "
        "its statistics. Settings (ballast.yaml(5)) are those of --config, else those in the "
        "snapshot (`ballast snapshot` writes them), else the defaults; --set overrides each. --pass: what "
        "the service planned then, if --set changes nothing; `ballast passes` lists the passes. "
        "ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_plan_run,
};
