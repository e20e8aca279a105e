/* explain: why a VM is moved, or is not. */
#include "core/explain.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "render/render.h"

#include <errno.h>

enum { OPT_SNAPSHOT, OPT_VM, OPT_HOST, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = {"snapshot", "FILE", OPTION_REQUIRED, "the cluster; - reads standard input"},
    [OPT_VM] = {"vm", "ID", OPTION_REQUIRED, "the VM that is asked about"},
    [OPT_HOST] = {"host", "ID", 0, "only this host; by default every one"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from the service's configuration"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "change one setting, after the configuration"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

/* What the ids of the command line stand for. */
static enum exit_code find(const struct snapshot *snap, const char *vm_id, const char *host_id,
                           uint32_t *ret_vm, uint32_t *ret_host)
{
    *ret_vm = snapshot_find_vm(snap, vm_id);
    if (*ret_vm == IX_NONE) {
        cli_error("--vm: no VM has the id \"%s\", expected one of the snapshot", vm_id);
        return EXIT_WRONG;
    }
    *ret_host = host_id ? snapshot_find_host(snap, host_id) : IX_NONE;
    if (host_id && *ret_host == IX_NONE) {
        cli_error("--host: no host has the id \"%s\", expected one of the snapshot", host_id);
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    struct explanation explanation;
    struct policy policy;
    struct snapshot snap;
    struct err err = {0};
    enum exit_code code;
    uint32_t vm;
    uint32_t host;

    if ((code = cli_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_policy(args_value(args, OPT_CONFIG, NULL), &args->options[OPT_SET], a, &policy)) !=
            EXIT_DONE ||
        (code = cli_snapshot(args_value(args, OPT_SNAPSHOT, "-"), a, &snap)) != EXIT_DONE ||
        (code = find(&snap, args_value(args, OPT_VM, ""), args_value(args, OPT_HOST, NULL), &vm, &host)) !=
            EXIT_DONE)
        return code;
    int r = explain_vm(&snap, &policy, vm, host, a, &explanation, &err);
    if (r < 0) {
        cli_error("ballast explain: %s", err.text);
        return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
    }
    if (format == FORMAT_JSON)
        render_explain_json(&snap, &explanation, out);
    else
        render_explain_text(&snap, &explanation, out);
    return EXIT_DONE;
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "Says why a VM is moved, or is not: each host with the check that decided.",
    .more = "It is asked at the moment at which the plan moves the VM, or at the plan's end if it does not. "
            "AFTER\n"
            "is the imbalance with the VM on that host. The checks are listed in conf/names.md.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = run,
};
