/* maintenance: takes a host out of service, or puts it back. */
#include "cli/client.h"
#include "cli/verbs.h"

#include <string.h>

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)show_begun_actions(reply, "", a, out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    if (strcmp(args->operands[0], "enter") != 0 && strcmp(args->operands[0], "exit") != 0) {
        cli_error("ballast maintenance: \"%s\" is not known, expected enter or exit", args->operands[0]);
        return EXIT_WRONG;
    }
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:s, s:s}", "command", "maintenance", "mode", args->operands[0],
                                 "host", args->operands[1]),
                       "actions", show, a, out);
}

const struct verb verb_maintenance = {
    .name = "maintenance",
    .summary = "Takes a host out of service, or puts it back.",
    .more = "enter: the VMs leave it first (their moves wait for approval unless automation is full).\n"
            "exit: also ends an evacuation that is under way.",
    .operands = "enter|exit HOST",
    .operands_min = 2,
    .operands_max = 2,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
