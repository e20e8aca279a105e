/* place: where to power VMs on. */
#include "core/place/place.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "render/render.h"

#include <errno.h>
#include <string.h>

enum { OPT_SNAPSHOT, OPT_VMS, OPT_CONFIG, OPT_SET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SNAPSHOT] = {"snapshot", "FILE", OPTION_REQUIRED, "the cluster; - reads standard input"},
    [OPT_VMS] = {"vms", "FILE", OPTION_REQUIRED, "the VMs, a JSON array; - reads standard input"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from the service's configuration"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "change one setting, after the configuration"},
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
        cli_error("--vms: standard input is the snapshot already, expected a file for one of the two");
        return EXIT_WRONG;
    }
    if ((code = cli_policy(args_value(args, OPT_CONFIG, NULL), &args->options[OPT_SET], a, ret_policy)) !=
            EXIT_DONE ||
        (code = cli_snapshot(snapshot_path, a, cluster)) != EXIT_DONE)
        return code;
    return cli_vms(vms_path, cluster, a, ret);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    struct policy policy;
    struct vms_to_place vms;
    struct plan plan;
    struct err err = {0};
    enum exit_code code;

    if ((code = cli_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = read_input(args, a, &policy, &vms)) != EXIT_DONE)
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
    uint32_t unplaced = plan_unplaced(&plan, vms.vms, vms.n);
    if (unplaced == 0)
        return EXIT_DONE;
    cli_error("ballast place: %u of %u VM%s could not be placed, see the faults", unplaced, vms.n,
              vms.n == 1 ? "" : "s");
    return EXIT_FAILED;
}

const struct verb verb_place = {
    .name = "place",
    .summary = "Says where to power VMs on, and what must be done before.",
    .more =
        "The VMs are objects as in a snapshot, without host; new ones need id, vcpus and mem_mb. One that "
        "the\n"
        "snapshot has, off or suspended, needs its id only. Several are placed together. Each is taken to\n"
        "use all it can: its configured memory, a core for each vCPU. NEEDS is what must be done before:\n"
        "other VMs that make room, hosts to be woken. A single VM's other hosts are listed, best first.\n"
        "The exit code is 1, and the plan is printed all the same, when a VM has no place.",
    .options = options,
    .n_options = COUNT_OF(options),
    .answers_no = true,
    .run = run,
};
