/* ballast plan: one pass on a snapshot. */
#include "cli/client.h"
#include "cli/decide.h"
#include "cli/verbs.h"

enum { OPT_SNAPSHOT, OPT_PASS, OPT_SOCKET, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
    [OPT_PASS] =
        {"pass", "N", 0,
         "make this past pass of the service again, from its own snapshot and with its own settings"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code verb_plan_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .socket = args_value(args, OPT_SOCKET, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    const struct decision_question question = {.kind = DECISION_PLAN};
    const char *pass = args_value(args, OPT_PASS, NULL);
    unsigned long long number = 0;
    enum cli_format format;
    enum exit_code code;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (pass && (code = cli_parse_number("pass", pass, INT64_MAX, &number)) != EXIT_DONE))
        return code;
    if (pass && number == 0) {
        cli_error("--pass: passes are numbered from 1, `ballast passes` lists them");
        return EXIT_WRONG;
    }
    if (pass && (paths.snapshot || paths.config)) {
        cli_error("--pass has no meaning with --%s", paths.snapshot ? "snapshot" : "config");
        return EXIT_WRONG;
    }
    return cli_decide("plan", &paths, &question, number, format, a, out);
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
        "the service planned then, if --set changes nothing; `ballast passes` lists the passes.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_plan_run,
};
