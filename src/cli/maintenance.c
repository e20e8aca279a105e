/* ballast maintenance: puts a host into maintenance, or takes it out. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"

#include <string.h>

static void show_maintenance(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)action_table_print_begun(reply, "", a, out);
}

static enum exit_code verb_maintenance_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (strcmp(args->operands[0], "enter") != 0 && strcmp(args->operands[0], "exit") != 0) {
        cli_error("ballast maintenance: \"%s\" is not known, expected enter or exit", args->operands[0]);
        return EXIT_WRONG;
    }
    return client_ask(args,
                      json_pack("{s:s, s:s, s:s}", "command", "maintenance", "mode", args->operands[0],
                                "host", args->operands[1]),
                      "actions", show_maintenance, a, out);
}

const struct verb verb_maintenance = {
    .name = "maintenance",
    .summary = "Put a host into maintenance, or take it out.",
    .more = "enter: the host's VMs are moved away first; the command approves these moves, whatever "
            "the automation level. exit: also cancels an evacuation that is under way.",
    .operands = "enter|exit HOST",
    .operands_min = 2,
    .operands_max = 2,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_maintenance_run,
};
