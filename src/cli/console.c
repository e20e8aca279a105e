/* console: what a host said on its serial console while an action woke it. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <errno.h>
#include <stdlib.h>

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

/* The service has cleaned it: no escape sequence is left in it. */
static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *c = json_object_get(reply, "console");
    const char *text = reply_text(c, "text");
    const char *why = reply_text(c, "why");

    (void)a;
    strbuf_puts(out, text && *text ? text : "it said nothing\n");
    if (out->len > 0 && out->text[out->len - 1] != '\n')
        strbuf_puts(out, "\n");
    if (why) {
        strbuf_puts(out, "-- ");
        table_put_text(out, why);
        strbuf_puts(out, "\n");
    }
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *word = args->operands[0];
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);
    char *end;

    if (code != EXIT_DONE)
        return code;
    errno = 0;
    long long id = strtoll(word, &end, 10);

    if (errno != 0 || end == word || *end != '\0' || id < 1) {
        cli_error("\"%s\" is not the number of an action", word);
        return EXIT_WRONG;
    }
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:I}", "command", "console", "id", (json_int_t)id), "console", show,
                       a, out);
}

const struct verb verb_console = {
    .name = "console",
    .summary = "What a host said on its serial console while an action woke it.",
    .more = "The last 64 KiB, where ipmi.console is set for the host. `ballast history` lists the actions.",
    .operands = "ACTION",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
