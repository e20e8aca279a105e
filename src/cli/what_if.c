/* ballast what-if: one pass on a snapshot with assumed changes. */
#include "model/what_if.h"
#include "base/number.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/demand/sample_guard.h"
#include "core/pass.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

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
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
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

static const struct {
    size_t option;
    enum change_kind kind;
} host_options[] = {
    {OPT_HOST_OFF, CHANGE_HOST_OFF},
    {OPT_HOST_ON, CHANGE_HOST_ON},
    {OPT_MAINTENANCE, CHANGE_MAINTENANCE},
};

static enum exit_code assume_demand(struct what_if *question, const char *text, struct arena *a)
{
    const char *equals = strrchr(text, '='); /* an id or a name may contain "=", a number cannot */
    struct err err = {0};
    double mhz;

    if (!equals) {
        cli_error("--demand: \"%s\" has no =, expected VM=MHZ", text);
        return EXIT_WRONG;
    }
    if (!number_parse(equals + 1, &mhz)) {
        cli_error("--demand: \"%s\" is not a number, expected MHz, 0 or more", equals + 1);
        return EXIT_WRONG;
    }
    const char *word = arena_strndup(a, text, (size_t)(equals - text));
    if (what_if_demand(question, word, mhz, &err) < 0) {
        cli_error("--demand: %s", err.text);
        return EXIT_WRONG;
    }
    uint32_t vm = question->changes[question->n - 1].vm;
    double most_mhz = sample_guard_most(&question->snap, vm, RES_CPU);
    if (mhz > most_mhz) { /* the pass would refuse such a demand and keep the VM where it is */
        cli_error("--demand: \"%s\" cannot use %.12g MHz, expected at most %.0f: a core for each vCPU", word,
                  mhz, floor(most_mhz));
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}

/* Hosts first: their state decides which VMs are seen. */
static enum exit_code assume(const struct args *args, struct what_if *question, struct arena *a)
{
    struct err err = {0};

    for (size_t i = 0; i < COUNT_OF(host_options); i++) {
        const struct option_values *words = &args->options[host_options[i].option];
        for (size_t k = 0; k < words->n; k++) {
            if (what_if_host(question, host_options[i].kind, words->items[k], &err) < 0) {
                cli_error("--%s: %s", options[host_options[i].option].name, err.text);
                return EXIT_WRONG;
            }
        }
    }
    const struct option_values *demands = &args->options[OPT_DEMAND];
    for (size_t i = 0; i < demands->n; i++) {
        enum exit_code code = assume_demand(question, demands->items[i], a);
        if (code != EXIT_DONE)
            return code;
    }
    if (question->n == 0) {
        cli_error("ballast what-if: give --host-off, --host-on, --maintenance or --demand");
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}

/* The plan of the changed cluster, and the cluster's present state. The latter is the "before" of any plan,
 * so a pass with mandatory moves only is enough. */
static int decide(const struct what_if *question, const struct policy *policy, struct arena *a,
                  struct plan *ret_plan, struct plan *ret_now, struct err *err)
{
    struct policy shortest = *policy;

    shortest.optional_moves = false;
    int r = pass_run(&question->snap, policy, a, ret_plan, err);
    return r < 0 ? r : pass_run(question->base, &shortest, a, ret_now, err);
}

static enum exit_code verb_what_if_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .socket = args_value(args, OPT_SOCKET, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    enum cli_format format;
    struct policy policy;
    struct snapshot snap;
    struct what_if question;
    struct plan plan;
    struct plan now;
    struct err err = {0};
    enum exit_code code;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_read_cluster(&paths, a, &policy, &snap)) != EXIT_DONE)
        return code;
    what_if_init(&question, &snap, a);
    if ((code = assume(args, &question, a)) != EXIT_DONE)
        return code;
    int64_t began_us = cli_now_us();
    int r = decide(&question, &policy, a, &plan, &now, &err);
    if (r < 0) {
        cli_error("ballast what-if: %s", err.text);
        return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
    }
    plan.stats.decide_us = cli_now_us() - began_us;
    if (format == FORMAT_JSON)
        render_what_if_json(&plan, &question, &now.before, out);
    else
        render_what_if_text(&plan, &question, &now.before, out);
    return EXIT_DONE;
}

const struct verb verb_what_if = {
    .name = "what-if",
    .summary = "Show what would happen if a host were off or on, or a VM wanted more CPU.",
    .more = "HOST and VM are ids or names. Give one change or more; they are assumed together. Shown "
            "are the changes, whether each host can be emptied and which VMs cannot leave it, the "
            "load now and then, and the plan of an ordinary pass. The JSON is that plan with two more "
            "members: what_if (the changes) and now (the state without them).",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_what_if_run,
};
