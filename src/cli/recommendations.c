/* ballast recommendations: current recommendations, and those of the last hour. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <string.h>

#define AVOIDED_SHOWN_MAX 20

static void show_avoided(const json_t *avoid, struct strbuf *out)
{
    size_t n = json_array_size(avoid);

    if (n > 0)
        strbuf_puts(out, "\nfailed, and not tried again yet (`ballast run --retry` tries at once):\n");
    for (size_t i = 0; i < n && i < AVOIDED_SHOWN_MAX; i++) {
        strbuf_puts(out, " ");
        table_put_hanging(out, reply_or_dash(json_array_get(avoid, i), "text"), 1, 4);
    }
    if (n > AVOIDED_SHOWN_MAX)
        strbuf_printf(out, "  and %zu more\n", n - AVOIDED_SHOWN_MAX);
}

static void show_recommendations(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "recommendations");

    if (json_array_size(list) == 0)
        strbuf_puts(out, "no recommendations\n");
    else
        action_table_print(reply, list, a, out);
    const char *waiting = action_table_waiting(json_object_get(reply, "balance"), a);
    if (waiting)
        table_put_wrapped(out, waiting, 0);
    show_avoided(json_object_get(reply, "avoid"), out);
}

enum { OPT_SOCKET, OPT_VM, OPT_HOST, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_VM] = {"vm", "VM", 0, "only those about this VM: its name or id"},
    [OPT_HOST] = {"host", "HOST", 0, "only those about this host, moves from it and to it included"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static enum exit_code verb_recommendations_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *vm = args_value(args, OPT_VM, NULL);
    const char *host = args_value(args, OPT_HOST, NULL);

    return client_show(args,
                       json_pack("{s:s, s:s*, s:s*}", "command", "recommendations", "vm", vm, "host", host),
                       "recommendations", show_recommendations, a, out);
}

const struct verb verb_recommendations = {
    .name = "recommendations",
    .summary = "List the current recommendations, and those that ended within the last hour.",
    .more = "`ballast apply ID` approves one; an ID is never used twice. PRIO: 1 is mandatory, 5 a "
            "slight improvement. AFTER: the imbalance once this action and those before it are done. "
            "The states are listed in names.md.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .can_watch = true,
    .run = verb_recommendations_run,
};
