/* ballast place: hosts on which to power VMs on, in a snapshot of a file or of the service; place_service.c
 * has the service decide, and act. */
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
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
    [OPT_VMS] = {"vms", "FILE", 0, "instead of VM...: the VMs as a JSON array; - reads standard input"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_APPLY] = {"apply", NULL, 0,
                   "power the VMs on, all or none: only VM..., with the service's settings"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code read_input(const struct args *args, struct arena *a, struct policy *ret_policy,
                                 struct vms_to_place *ret)
{
    const char *vms_path = args_value(args, OPT_VMS, NULL);
    struct snapshot *cluster = arena_new(a, struct snapshot);
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .socket = args_value(args, OPT_SOCKET, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    enum exit_code code;

    if (paths.snapshot && strcmp(paths.snapshot, "-") == 0 && vms_path && strcmp(vms_path, "-") == 0) {
        cli_error("ballast place: --snapshot and --vms cannot both be standard input");
        return EXIT_WRONG;
    }
    if ((code = cli_read_cluster(&paths, a, ret_policy, cluster)) != EXIT_DONE)
        return code;
    return vms_path ? cli_read_vms(vms_path, cluster, a, ret)
                    : cli_find_vms(args->operands, args->n_operands, cluster, a, ret);
}

/* Whether the service decides: about VMs that it knows, with the settings that it has. ret_other: an option
 * that is not for that; NULL if it does. */
static bool is_for_service(const struct args *args, const char **ret_other)
{
    static const size_t of_snapshot[] = {OPT_SNAPSHOT, OPT_VMS, OPT_CONFIG, OPT_SET};

    *ret_other = NULL;
    for (size_t i = 0; i < COUNT_OF(of_snapshot) && !*ret_other; i++) {
        if (args->options[of_snapshot[i]].n > 0)
            *ret_other = options[of_snapshot[i]].name;
    }
    return !*ret_other;
}

static enum exit_code check_form(const struct args *args, const char *other)
{
    bool from_file = args->options[OPT_VMS].n > 0;

    if (from_file && args->n_operands > 0)
        cli_error("ballast place: give VM... or --vms FILE, not both, see ballast place --help");
    else if (!from_file && args->n_operands == 0)
        cli_error("ballast place: VM... or --vms FILE is missing, see ballast place --help");
    else if (other && args->options[OPT_APPLY].n > 0)
        cli_error("ballast place: --apply has no meaning with --%s, see ballast place --help", other);
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
    const char *other;
    bool at_service = is_for_service(args, &other);
    enum cli_format format;
    enum exit_code code;

    if ((code = check_form(args, other)) != EXIT_DONE ||
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
    .more = "VM is the id or name of a VM that is off or suspended. With --vms, the VMs are objects as in "
            "a snapshot, without a host: a new VM needs id, vcpus and mem_mb; one of the snapshot needs "
            "its id only.\n"
            "Settings: as for `ballast plan`; without --snapshot those of the service.\n"
            "With --apply the service carries the plan out, whatever its automation level, and the actions "
            "are printed. Nothing is started if one of the VMs cannot be placed.\n"
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
