/* freeze: starts nothing from now on. */
#include "cli/client.h"
#include "cli/verbs.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)reply, (void)a;
    strbuf_puts(out, "frozen: nothing is started until `ballast thaw`\n");
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format, json_pack("{s:s}", "command", "freeze"),
                       NULL, show, a, out);
}

const struct verb verb_freeze = {
    .name = "freeze",
    .summary = "Starts nothing from now on.",
    .more = "The service goes on looking and recommending, and follows what runs; a restart does not end it.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
