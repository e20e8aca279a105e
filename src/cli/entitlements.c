/* ballast entitlements: settings, demand and entitlement of pools and VMs in a snapshot. */
#include "cli/client.h"
#include "cli/decide.h"
#include "cli/verbs.h"

#include <string.h>

enum { OPT_SNAPSHOT, OPT_SOCKET, OPT_RESOURCE, OPT_CONFIG, OPT_WIDE, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_RESOURCE] = {"resource", "cpu|mem", 0, "show only this resource"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take pools and settings of VMs from this configuration"},
    [OPT_WIDE] = {"wide", NULL, 0, "show what was divvied too, for a wide terminal"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};

static enum exit_code verb_entitlements_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    static const struct option_values no_settings = {0}; /* none changes what a VM is entitled to */
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &no_settings};
    struct decision_question question = {.kind = DECISION_ENTITLEMENTS,
                                         .wide = args->options[OPT_WIDE].n > 0};
    const char *word = args_value(args, OPT_RESOURCE, NULL);

    for (int r = 0; r < RES_COUNT; r++)
        question.resources[r] = !word || strcmp(word, res_word[r]) == 0;
    return cli_decide(args, &paths, &question, 0, a, out);
}

const struct verb verb_entitlements = {
    .name = "entitlements",
    .summary = "Show the settings, demand and entitlement of every resource pool and VM.",
    .more = "CPU in MHz, memory in MiB. ENTITLED: what the pool or VM gets of the cluster by its "
            "reservation, limit and shares; MET: in percent of its demand. --wide adds the reservation and "
            "the limit that were divvied to it. A limit of - means no limit. ballast-concepts(7) defines the "
            "terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_entitlements_run,
};
