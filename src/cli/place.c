/* ballast place: hosts on which to power VMs on, in a snapshot; place_service.c has the cluster of the
 * service. */
#include "core/place/place.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/place_service.h"
#include "cli/verbs.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

enum { OPT_SNAPSHOT, OPT_VMS, OPT_CONFIG, OPT_SET, OPT_APPLY, OPT_SOCKET, OPT_FORMAT, OPT_COUNT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = {"snapshot", "FILE", 0,
                      "snapshot of the cluster; - reads standard input; default: the service's cluster"},
    [OPT_VMS] = {"vms", "FILE", 0, "with --snapshot: the VMs as a JSON array; - reads standard input"},
    [OPT_CONFIG] = {"config", "FILE", 0, "with --snapshot: take the settings from this configuration"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "with --snapshot: override one setting"},
    [OPT_APPLY] = {"apply", NULL, 0, "without --snapshot: power the VMs on, all or none"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code read_input(const struct args *args, struct arena *a, struct policy *ret_policy,
                                 struct vms_to_place *ret)
{
    const char *snapshot_path = args_value(args, OPT_SNAPSHOT, "-");
    const char *vms_path = args_value(args, OPT_VMS, "-");
    struct snapshot *cluster = arena_new(a, struct snapshot);
    enum exit_code code;

    if (strcmp(snapshot_path, "-") == 0 && strcmp(vms_path, "-") == 0) {
        cli_error("ballast place: --snapshot and --vms cannot both be standard input");
        return EXIT_WRONG;
    }
    const struct cluster_paths paths = {.snapshot = snapshot_path,
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};

    if ((code = cli_read_cluster(&paths, a, ret_policy, cluster)) != EXIT_DONE)
        return code;
    return cli_read_vms(vms_path, cluster, a, ret);
}

/* Refuses options of the other form. */
static enum exit_code check_form(const struct args *args, bool at_service)
{
    static const bool of_service[OPT_COUNT] = {[OPT_APPLY] = true, [OPT_SOCKET] = true};

    for (size_t i = 0; i < OPT_FORMAT; i++) {
        if (args->options[i].n == 0 || of_service[i] == at_service)
            continue;
        cli_error("ballast place: --%s has no meaning %s --snapshot, see ballast place --help",
                  options[i].name, at_service ? "without" : "with");
        return EXIT_WRONG;
    }
    if (!at_service && args->n_operands > 0)
        cli_error("ballast place: \"%s\" is not expected, see ballast place --help", args->operands[0]);
    else if (!at_service && args->options[OPT_VMS].n == 0)
        cli_error("ballast place: --vms FILE is missing, see ballast place --help");
    else if (at_service && args->n_operands == 0)
        cli_error("ballast place: VM... (or --snapshot FILE) is missing, see ballast place --help");
    else
        return EXIT_DONE;
    return EXIT_WRONG;
}

static enum exit_code place_in_snapshot(const struct args *args, enum cli_format format, struct arena *a,
                                        struct strbuf *out)
{
    struct policy policy;
    struct vms_to_place vms;
    struct plan plan;
    struct err err = {0};
    enum exit_code code;

    if ((code = read_input(args, a, &policy, &vms)) != EXIT_DONE)
        return code;
    int64_t began_us = cli_now_us();
    int r = place_run(&vms.snap, &policy, vms.vms, vms.n, a, &plan, &err);
    if (r < 0) {
        cli_error("ballast place: %s", err.text);
        return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
    }
    plan.stats.decide_us = cli_now_us() - began_us;
    if (format == FORMAT_JSON)
        render_plan_json(&plan, out);
    else
        render_place_text(&plan, vms.vms, vms.n, out);
    uint32_t unplaced = render_unplaced_count(&plan, vms.vms, vms.n);
    if (unplaced == 0)
        return EXIT_DONE;
    cli_error("ballast place: %u of %u VM%s cannot be placed, see the faults", unplaced, vms.n,
              vms.n == 1 ? "" : "s");
    return EXIT_FAILED;
}

static enum exit_code verb_place_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    bool at_service = args->options[OPT_SNAPSHOT].n == 0;
    enum cli_format format;
    enum exit_code code;

    if ((code = check_form(args, at_service)) != EXIT_DONE ||
        (code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE)
        return code;
    return at_service ? place_service(args_value(args, OPT_SOCKET, NULL), args->operands, args->n_operands,
                                      args->options[OPT_APPLY].n > 0, format, a, out)
                      : place_in_snapshot(args, format, a, out);
}

const struct verb verb_place = {
    .name = "place",
    .summary = "Find hosts on which to power VMs on, and the actions needed first; --apply powers them "
               "on.",
    .more = "With --snapshot, the VMs are objects as in a snapshot, without a host. A new VM needs "
            "id, vcpus and mem_mb; a VM of the snapshot that is off or suspended needs its id only.\n"
            "Without --snapshot, VM is the id or name of a VM of the service's cluster that is off or "
            "suspended. With --apply the service carries the plan out, whatever its automation level, "
            "and the actions are printed. Nothing is started if one of the VMs cannot be placed.\n"
            "\n"
            "Several VMs are placed together. Each is assumed to use its configured memory and a core "
            "for each vCPU. NEEDS: actions that must be done first, such as moving another VM or "
            "waking a host. For a single VM the other possible hosts are listed, best first. If a VM "
            "cannot be placed, the plan is printed and the exit code is 1.",
    .operands = "[VM...]",
    .operands_max = 1000,
    .options = options,
    .n_options = COUNT_OF(options),
    .answers_no = true,
    .run = verb_place_run,
};
