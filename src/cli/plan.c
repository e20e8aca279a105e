/* plan: one pass. */
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/pass.h"
#include "render/render.h"

#include <errno.h>

enum { OPT_SNAPSHOT, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = {"snapshot", "FILE", OPTION_REQUIRED,
                      "the cluster to decide for; - reads standard input"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from the service's configuration"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "change one setting, after the configuration"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    struct policy policy;
    struct snapshot snap;
    struct plan plan;
    struct err err = {0};
    enum exit_code code;

    if ((code = cli_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_policy(args_value(args, OPT_CONFIG, NULL), &args->options[OPT_SET], a, &policy)) !=
            EXIT_DONE ||
        (code = cli_snapshot(args_value(args, OPT_SNAPSHOT, "-"), a, &snap)) != EXIT_DONE)
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
    .summary = "Decides once, from a snapshot, and prints the plan.",
    .more =
        "PRIO is 1 (mandatory) to 5 (slight), AFTER the imbalance once this and those before it are done,\n"
        "NEEDS what must be done before, GROUP what only makes sense together. The same snapshot and\n"
        "settings give the same plan, stats aside. Settings: conf/names.md.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = run,
};
