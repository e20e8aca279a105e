/* ballast migrate: the host at which a running VM is best, in a snapshot of a file or of the service. */
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/place/best.h"
#include "model/named.h"
#include "render/render.h"

enum { OPT_BEST, OPT_SNAPSHOT, OPT_CONFIG, OPT_SET, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_BEST] = {"best", NULL, OPTION_REQUIRED, "to the best host, which may be the one where it runs"},
    [OPT_SNAPSHOT] =
        {"snapshot", "FILE", 0,
         "snapshot of the cluster; - reads standard input; default: the last one of the service"},
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void put_text(const struct plan *plan, uint32_t vm, const struct best_host *best, struct strbuf *out)
{
    const struct snapshot *s = plan->snap;
    const char *name = s->vms[vm].is.name;

    if (s->vms[vm].host == best->host)
        strbuf_printf(out, "%s is best where it runs, at %s.\n", name, s->hosts[best->host].is.name);
    else
        strbuf_printf(out, "%s is best at %s.\n\n", name, s->hosts[best->host].is.name);
    if (plan->n_recommendations > 0)
        render_plan_text(plan, out);
}

static enum exit_code verb_migrate_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .socket = args_value(args, OPT_SOCKET, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    struct snapshot *s = arena_new(a, struct snapshot);
    enum cli_format format;
    struct policy policy;
    struct best_host best;
    struct plan plan;
    struct err err = {0};
    uint32_t vm;
    enum exit_code code;

    if ((code = cli_parse_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = cli_read_cluster(&paths, a, &policy, s)) != EXIT_DONE)
        return code;
    if (named_vm(s, args->operands[0], &vm, &err) < 0 ||
        best_host_find(s, &policy, vm, a, &best, &plan, &err) < 0) {
        cli_error("ballast migrate: %s", err.text);
        return EXIT_WRONG;
    }
    if (best.host == IX_NONE) {
        cli_error("ballast migrate: no host may run %s. %s", s->vms[vm].is.name,
                  wording_text(s, best.why, a));
        return EXIT_FAILED;
    }
    if (format == FORMAT_JSON)
        render_plan_json(&plan, out);
    else
        put_text(&plan, vm, &best, out);
    return EXIT_DONE;
}

const struct verb verb_migrate = {
    .name = "migrate",
    .summary = "Find the best host for a running VM, and the migration to it.",
    .more =
        "VM is the id or name of a VM that runs. Hosts, the VM's own among them, are ranked as for `ballast "
        "place`: by the scores, cuts and picks of its pipeline, or by the lowest imbalance. The cost of the "
        "migration does not count. Ballast moves nothing: make the migration with the hypervisor's own "
        "tool.\n"
        "Settings: as for `ballast plan`; without --snapshot those of the service.",
    .operands = "VM",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_migrate_run,
};
