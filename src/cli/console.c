/* ballast console: what a host printed on its serial console while an action woke it. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <errno.h>
#include <stdlib.h>

/* The text is clean: the service has removed all escape sequences. */
static void show_console(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *c = json_object_get(reply, "console");
    const char *text = reply_text(c, "text");
    const char *why = reply_text(c, "why");

    (void)a;
    strbuf_puts(out, text && *text ? text : "the host printed nothing\n");
    if (out->len > 0 && out->text[out->len - 1] != '\n')
        strbuf_puts(out, "\n");
    if (why) {
        strbuf_puts(out, "-- ");
        table_put_text(out, why);
        strbuf_puts(out, "\n");
    }
}

static enum exit_code verb_console_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *word = args->operands[0];
    char *end;

    errno = 0;
    long long id = strtoll(word, &end, 10);

    if (errno != 0 || end == word || *end != '\0' || id < 1)
        return cli_fail(EXIT_WRONG, "ballast console: \"%s\" is not the number of an action", word);
    return client_show(args, json_pack("{s:s, s:I}", "command", "console", "id", (json_int_t)id), "console",
                       show_console, a, out);
}

const struct verb verb_console = {
    .name = "console",
    .summary = "Show what a host printed on its serial console while an action woke it.",
    .more = "At most the last 64 KiB, if ipmi.console is set for the host. `ballast history` lists "
            "the actions.",
    .operands = "ACTION",
    .operands_min = 1,
    .operands_max = 1,
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_console_run,
};
