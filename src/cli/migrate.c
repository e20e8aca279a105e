/* ballast migrate: finds the best host for a running VM, in a snapshot or by the service. With --apply the
 * service migrates the VM there. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "core/place/best.h"
#include "model/named.h"
#include "render/render.h"

enum { OPT_BEST, OPT_APPLY, OPT_SNAPSHOT, OPT_CONFIG, OPT_SET, OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_BEST] = {"best", NULL, OPTION_REQUIRED, "to the best host, which may be the one where it runs"},
    [OPT_APPLY] = {"apply", NULL, 0, "migrate the VM there, with the service's settings"},
    [OPT_SNAPSHOT] = OPTION_SNAPSHOT,
    [OPT_CONFIG] = {"config", "FILE", 0, "take the settings from this configuration, not from the snapshot"},
    [OPT_SET] = {"set", "KEY=VALUE", OPTION_REPEATS, "override one setting"},
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

/* The service decides, with its own settings. */
static enum exit_code ask_service(const struct args *args, struct arena *a, struct strbuf *out)
{
    const bool apply = args->options[OPT_APPLY].n > 0;
    json_t *request =
        json_pack("{s:s, s:s, s:b}", "command", "migrate", "vm", args->operands[0], "apply", apply);
    json_t *reply = NULL;
    enum exit_code code;

    if (!request || args->operands[0][0] == '\0') {
        cli_error("ballast migrate: \"%s\" is not the id or name of a VM", args->operands[0]);
        json_decref(request);
        return EXIT_WRONG;
    }
    if ((code = client_call(args->socket, request, &reply)) != EXIT_DONE)
        return code;
    const json_t *actions = json_object_get(reply, "actions");

    if (apply && args->json)
        reply_dump(actions, out);
    else if (json_array_size(actions) > 0)
        action_table_print(reply, actions, a, out);
    else
        strbuf_puts(out, reply_text(reply, args->json ? "plan" : "text"));
    json_decref(reply);
    return EXIT_DONE;
}

static enum exit_code verb_migrate_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const struct cluster_paths paths = {.snapshot = args_value(args, OPT_SNAPSHOT, NULL),
                                        .config = args_value(args, OPT_CONFIG, NULL),
                                        .sets = &args->options[OPT_SET]};
    struct snapshot *s = arena_new(a, struct snapshot);
    struct policy policy;
    struct best_host best;
    struct plan plan;
    struct err err = {0};
    uint32_t vm;
    enum exit_code code;

    const char *other = args->options[OPT_SNAPSHOT].n > 0 ? "snapshot"
                        : args->options[OPT_CONFIG].n > 0 ? "config"
                        : args->options[OPT_SET].n > 0    ? "set"
                                                          : NULL;
    if (!other)
        return ask_service(args, a, out);
    if (args->options[OPT_APPLY].n > 0)
        return cli_fail(EXIT_WRONG,
                        "ballast migrate: --apply has no meaning with --%s, see ballast migrate --help",
                        other);
    if ((code = cli_read_cluster(args, &paths, a, &policy, s)) != EXIT_DONE)
        return code;
    if (named_vm(s, args->operands[0], &vm, &err) < 0 ||
        best_host_find(s, &policy, vm, a, &best, &plan, &err) < 0)
        return cli_fail(EXIT_WRONG, "ballast migrate: %s", err.text);
    if (best.host == IX_NONE)
        return cli_fail(EXIT_FAILED, "ballast migrate: no host may run %s. %s", s->vms[vm].is.name,
                        wording_text(s, best.why, a));
    if (args->json)
        render_plan_json(&plan, out);
    else
        render_best_host_text(&plan, vm, best.host, out);
    return EXIT_DONE;
}

const struct verb verb_migrate = {
    .name = "migrate",
    .summary = "Find the best host for a running VM, and migrate it there.",
    .more =
        "VM is the id or name of a VM that runs. Hosts, the VM's own among them, are ranked as for `ballast "
        "place`: by the scores, cuts and picks of its pipeline, or by the lowest imbalance. The cost of the "
        "migration does not count.\n"
        "The service decides on an inventory that it asks for now, with its settings, unless --snapshot, "
        "--config or --set is given. With --apply the migration is approved in your name and begun, unless "
        "the VM is best where it runs; VMs that rules keep with it move too.",
    .operands = "VM",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .run = verb_migrate_run,
};
