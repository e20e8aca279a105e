/* ballast explain: the check that decided about a VM or a host. */
#include "cli/client.h"
#include "cli/decide.h"
#include "cli/verbs.h"

enum { OPT_SNAPSHOT, OPT_SOCKET, OPT_VM, OPT_HOST, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_VM] = {"vm", "VM", 0, "explain this VM (id or name)"},
    [OPT_HOST] = {"host", "HOST", 0, "with --vm: show only this destination; else explain this host"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code verb_explain_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    const struct decision_question question = {.kind = DECISION_EXPLAIN,
                                               .vm = args_value(args, OPT_VM, NULL),
                                               .host = args_value(args, OPT_HOST, NULL)};

    if (!question.vm && !question.host)
        return cli_fail(EXIT_WRONG, "ballast explain: give --vm or --host");
    return cli_decide(args, &paths, &question, 0, a, out);
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "Show why a VM is or is not moved, or why a host is or is not put to standby or woken.",
    .more = "A VM is judged at the moment at which the plan moves it, or after the moves for balance if it "
            "stays; before them if its host is to be emptied. IMBALANCE: with the VM on that host. Three or "
            "more hosts that one check rejects "
            "in the same words are one row, with the range of their figures; --host and --format json show "
            "each. A shortage is its mean over the "
            "time for which today's load is expected to last. The checks are listed in "
            "names.md. SCORE BY STAGE: what each stage of the VM's pipeline gives the best hosts, and all "
            "together (JSON: each host). --host without --vm names the check that keeps a host on, or keeps "
            "it in "
            "standby. Settings: as for `ballast plan`. ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_explain_run,
};
