/* ballast plan: one pass on a snapshot. */
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/pass.h"
#include "render/render.h"

#include <errno.h>

enum { OPT_SNAPSHOT, OPT_SOCKET, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
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
    enum cli_format format;
    struct policy policy;
    struct snapshot snap;
    struct plan plan;
    struct err err = {0};
    enum exit_code code;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_read_cluster(&paths, a, &policy, &snap)) != EXIT_DONE)
        return code;
    int64_t began_us = cli_now_us();
    int r = pass_run(&snap, &policy, a, &plan, &err);
    if (r < 0) {
        cli_error("ballast plan: %s", err.text);
        return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
    }
    plan.stats.decide_us = cli_now_us() - began_us;
    if (format == FORMAT_JSON)
        render_plan_json(&plan, out);
    else
        render_plan_text(&plan, out);
    return EXIT_DONE;
}

const struct verb verb_plan = {
    .name = "plan",
    .summary = "Decide once from a snapshot and print the recommendations.",
    .more = "LOAD: what the VMs of a host are entitled to, in percent of what the host has for VMs. PRIO: 1 "
            "is mandatory, 5 a slight improvement. IMBALANCE: once this action and "
            "those before it are done. NEEDS: actions that must be done first. GROUP: actions that "
            "only make sense together. The same snapshot and settings give the same plan, except for "
            "its statistics. Settings (ballast.yaml(5)) are those of --config, else those in the "
            "snapshot (`ballast snapshot` writes them), else the defaults; --set overrides each.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_plan_run,
};
