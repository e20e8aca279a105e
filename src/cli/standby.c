/* standby: puts a host to standby. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <string.h>

/* An approved one waits until the host is empty, which may need a person. */
static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *action = json_array_get(json_object_get(reply, "actions"), 0);
    const char *state = reply_text(action, "state");

    if (!show_begun_actions(reply, ": it is in standby, or on its way there", a, out) || !state ||
        strcmp(state, "approved") != 0)
        return;
    strbuf_puts(out, "\nWhat runs there leaves first: `ballast recommendations` lists the moves, which\n"
                     "wait for `ballast apply` unless automation is full.\n`ballast wake ");
    table_put_text(out, action_what(action, a));
    strbuf_puts(out, "` takes it back.\n");
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, CLIENT_OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, CLIENT_OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:s}", "command", "standby", "host", args->operands[0]), "actions",
                       show, a, out);
}

const struct verb verb_standby = {
    .name = "standby",
    .summary = "Puts a host to standby.",
    .more = "Its VMs leave it first (their moves wait for approval unless automation is full). Refused where "
            "too\n"
            "little would stay on, and where the host was never seen to wake: `ballast wake HOST --verify`.\n"
            "`ballast wake HOST` takes it back.",
    .operands = "HOST",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = run,
};
