/* recommendations: what is recommended, and what became of it. */
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
    const json_t *list = json_object_get(reply, "recommendations");

    if (json_array_size(list) == 0)
        strbuf_puts(out, "nothing is recommended\n");
    else
        show_actions(list, a, out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s}", "command", "recommendations"), "recommendations", show, a, out);
}

const struct verb verb_recommendations = {
    .name = "recommendations",
    .summary = "What is recommended, and what became of it in the last hour.",
    .more = "Each has a number of its own for ever; `ballast apply ID` carries it out. PRIO is 1 (mandatory) "
            "to 5\n"
            "(slight), AFTER the imbalance once it and those before it are done. States: conf/names.md.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
