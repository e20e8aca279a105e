/* apply: approves recommendations. */
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    show_actions(json_object_get(reply, "actions"), a, out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    json_t *ids;
    enum exit_code code;

    if ((code = cli_format(args, OPT_FORMAT, &format)) != EXIT_DONE ||
        (code = client_ids(args, "apply", &ids)) != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:o}", "command", "apply", "ids", ids), "actions", show, a, out);
}

const struct verb verb_apply = {
    .name = "apply",
    .summary = "Approves recommendations: they are carried out.",
    .more = "What one depends on must be approved before it, or along with it.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
