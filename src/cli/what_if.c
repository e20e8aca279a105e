/* ballast what-if: one pass on a snapshot with assumed changes. */
#include "cli/client.h"
#include "cli/decide.h"
#include "cli/verbs.h"

enum {
    OPT_SNAPSHOT,
    OPT_SOCKET,
    OPT_HOST_OFF,
    OPT_HOST_ON,
    OPT_MAINTENANCE,
    OPT_DEMAND,
    OPT_CONFIG,
    OPT_SET,
    OPT_FORMAT,
};

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_HOST_OFF] = {"host-off", "HOST", OPTION_REPEATS, "assume that this host is put to standby"},
    [OPT_HOST_ON] = {"host-on", "HOST", OPTION_REPEATS,
                     "assume that this host, now in standby or maintenance, is on"},
    [OPT_MAINTENANCE] = {"maintenance", "HOST", OPTION_REPEATS,
                         "assume that this host is put into maintenance"},
    [OPT_DEMAND] = {"demand", "VM=MHZ", OPTION_REPEATS,
                    "assume that this VM has wanted this much CPU for an hour"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const size_t change_options[change_kind_count] = {
    [CHANGE_HOST_OFF] = OPT_HOST_OFF,
    [CHANGE_HOST_ON] = OPT_HOST_ON,
    [CHANGE_MAINTENANCE] = OPT_MAINTENANCE,
    [CHANGE_DEMAND] = OPT_DEMAND,
};

static void list_changes(const struct args *args, struct arena *a, struct decision_question *ret)
{
    struct decision_change *list;
    size_t n = 0;

    for (size_t k = 0; k < change_kind_count; k++)
        n += args->options[change_options[k]].n;
    ret->changes = list = arena_array(a, struct decision_change, n);
    ret->n_changes = n;
    for (size_t k = 0; k < change_kind_count; k++) {
        const struct option_values *words = &args->options[change_options[k]];

        for (size_t i = 0; i < words->n; i++)
            *list++ = (struct decision_change){.kind = (enum change_kind)k, .word = words->items[i]};
    }
}

static enum exit_code verb_what_if_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    struct decision_question question = {.kind = DECISION_WHAT_IF};

    list_changes(args, a, &question);
    if (question.n_changes == 0)
        return cli_fail(EXIT_WRONG, "ballast what-if: give --host-off, --host-on, --maintenance or --demand");
    return cli_decide(args, &paths, &question, 0, a, out);
}

const struct verb verb_what_if = {
    .name = "what-if",
    .summary = "Show what would happen if a host were off or on, or a VM wanted more CPU.",
    .more = "HOST and VM are ids or names. Give one change or more; they are assumed together. Shown "
            "are the changes, whether each host can be emptied and which VMs cannot leave it, the "
            "load now and then, and the plan of an ordinary pass. The JSON is that plan with two more "
            "members: what_if (the changes) and now (the state without them). "
            "ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_what_if_run,
};
