/* reject: rejects recommendations. */
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
        (code = client_ids(args, "reject", &ids)) != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:o}", "command", "reject", "ids", ids), "actions", show, a, out);
}

const struct verb verb_reject = {
    .name = "reject",
    .summary = "Rejects recommendations, or takes an approval back.",
    .more = "What has begun cannot be rejected. The VM is left alone for its cool-down.",
    .operands = "ID...",
    .operands_min = 1,
    .operands_max = 1000,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
