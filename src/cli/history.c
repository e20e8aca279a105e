/* history: actions that have ended. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <errno.h>
#include <stdlib.h>

#define LIMIT_MAX 1000 /* the service's */

enum { OPT_SOCKET, OPT_LIMIT, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_LIMIT] = {"limit", "N", 0, "at most so many (50)"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"ID", true},    {"ENDED", false}, {"STATE", false}, {"ACTION", false},          {"VM OR HOST", false},
    {"FROM", false}, {"TO", false},    {"BY", false},    {"", false, .below = true},
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "history");
    struct table t;
    const json_t *x;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    json_array_foreach(list, i, x)
    {
        const char *vm = reply_text(x, "vm_name");
        const char *why = reply_text(x, "why");

        table_cellf(&t, "%lld", (long long)reply_int(x, "id"));
        table_cell(&t, reply_text(x, "ended"));
        table_cell(&t, reply_text(x, "state"));
        table_cell(&t, reply_text(x, "action"));
        table_cell(&t, vm ? vm : reply_text(x, "host_name"));
        table_cell(&t, reply_text(x, "from_name"));
        table_cell(&t, reply_text(x, "to_name"));
        table_cell(&t, reply_text(x, "approved_by"));
        table_cell(&t, why ? why : reply_text(x, "text"));
    }
    if (i == 0)
        strbuf_puts(out, "nothing has ended yet\n");
    else
        table_render(&t, "", out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *limit = args_value(args, OPT_LIMIT, "50");
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);
    char *end;

    if (code != EXIT_DONE)
        return code;
    errno = 0;
    long long n = strtoll(limit, &end, 10);
    if (errno != 0 || end == limit || *end != '\0' || n < 1 || n > LIMIT_MAX) {
        cli_error("--limit: \"%s\" is wrong, expected a whole number from 1 to %d", limit, LIMIT_MAX);
        return EXIT_WRONG;
    }
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:I}", "command", "history", "limit", (json_int_t)n), "history", show,
                       a, out);
}

const struct verb verb_history = {
    .name = "history",
    .summary = "Actions that have ended, newest first.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
