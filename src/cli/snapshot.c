/* snapshot: what the last pass was made from. */
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = {"format", "text|json", 0, "a snapshot is JSON in either"},
};

/* The text as the service wrote it: numbers are not to be read and written once more. */
static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    json_t *reply = NULL;
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    code = client_call(args_value(args, OPT_SOCKET, NULL), json_pack("{s:s}", "command", "snapshot"), &reply);

    (void)a;
    if (code != EXIT_DONE)
        return code;
    const char *text = reply_text(reply, "snapshot");

    if (text)
        strbuf_puts(out, text);
    json_decref(reply);
    return EXIT_DONE;
}

const struct verb verb_snapshot = {
    .name = "snapshot",
    .summary = "What the last pass was made from, as a snapshot for the other commands.",
    .more = "ballast snapshot > now.json; ballast plan --snapshot now.json",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
