/* ballast explain: the check that decided about a VM or a host. */
#include "core/explain.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "model/named.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

enum { OPT_SNAPSHOT, OPT_SOCKET, OPT_VM, OPT_HOST, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_VM] = {"vm", "VM", 0, "explain this VM (id or name)"},
    [OPT_HOST] = {"host", "HOST", 0, "with --vm: show only this destination; else explain this host"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

/* Resolves ids and names of the command line. */
static enum exit_code find(const struct snapshot *snap, const char *vm_word, const char *host_word,
                           uint32_t *ret_vm, uint32_t *ret_host)
{
    struct err err = {0};

    *ret_vm = *ret_host = IX_NONE;
    if (!vm_word && !host_word) {
        cli_error("ballast explain: give --vm or --host");
        return EXIT_WRONG;
    }
    if (vm_word && named_vm(snap, vm_word, ret_vm, &err) < 0) {
        cli_error("--vm: %s", err.text);
        return EXIT_WRONG;
    }
    if (host_word && named_host(snap, host_word, ret_host, &err) < 0) {
        cli_error("--host: %s", err.text);
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}

static int say_vm(const struct snapshot *snap, const struct policy *policy, uint32_t vm, uint32_t host,
                  enum cli_format format, struct arena *a, struct strbuf *out, struct err *err)
{
    struct explanation explanation;
    int r = explain_vm(snap, policy, vm, host, a, &explanation, err);

    if (r == 0 && format == FORMAT_JSON)
        render_explain_json(snap, &explanation, out);
    else if (r == 0)
        render_explain_text(snap, &explanation, out);
    return r;
}

/* The note for a missing dpm.enabled: the default may differ from the service's setting. */
static const char *assumption(const struct args *args, const struct snapshot *snap)
{
    static const char key[] = "dpm.enabled=";
    const struct option_values *sets = &args->options[OPT_SET];

    if (snap->policy || args_value(args, OPT_CONFIG, NULL))
        return NULL;
    for (size_t i = 0; i < sets->n; i++) {
        if (strncmp(sets->items[i], key, strlen(key)) == 0)
            return NULL;
    }
    return "This is assumed, as the default: this snapshot does not hold the settings. --config FILE takes "
           "them from the service's configuration, --set dpm.enabled=true asks what would be if it were on.";
}

static int say_host(const struct snapshot *snap, const struct policy *policy, uint32_t host,
                    const char *assumed, enum cli_format format, struct arena *a, struct strbuf *out,
                    struct err *err)
{
    struct host_explanation explanation;
    int r = explain_host(snap, policy, host, a, &explanation, err);

    if (r == 0 && format == FORMAT_JSON)
        render_explain_host_json(snap, &explanation, assumed, out);
    else if (r == 0)
        render_explain_host_text(snap, &explanation, assumed, out);
    return r;
}

static enum exit_code verb_explain_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .socket = args_value(args, OPT_SOCKET, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    enum cli_format format;
    struct policy policy;
    struct snapshot snap;
    struct err err = {0};
    enum exit_code code;
    uint32_t vm;
    uint32_t host;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_read_cluster(&paths, a, &policy, &snap)) != EXIT_DONE ||
        (code = find(&snap, args_value(args, OPT_VM, NULL), args_value(args, OPT_HOST, NULL), &vm, &host)) !=
            EXIT_DONE)
        return code;
    int r = vm != IX_NONE ? say_vm(&snap, &policy, vm, host, format, a, out, &err)
                          : say_host(&snap, &policy, host, assumption(args, &snap), format, a, out, &err);
    if (r < 0) {
        cli_error("ballast explain: %s", err.text);
        return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
    }
    return EXIT_DONE;
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "Show why a VM is or is not moved, or why a host is or is not put to standby or woken.",
    .more = "A VM is judged at the moment at which the plan moves it, or at the end of the plan if it "
            "does not move. IMBALANCE: with the VM on that host. Three or more hosts that one check rejects "
            "in the same words are one row, with the range of their figures; --host and --format json show "
            "each. A shortage is its mean over the "
            "time for which today's load is expected to last. The checks are listed in "
            "names.md. --host without --vm names the check that keeps a host on, or keeps it in "
            "standby. Settings: as for `ballast plan`.",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_explain_run,
};
