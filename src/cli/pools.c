/* pools: the resource pools, with what they are entitled to. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"POOL", false}, {"PARENT", false}, {"RESOURCE", false}, {"RESERVATION", true},
    {"LIMIT", true}, {"SHARES", true},  {"DEMAND", true},    {"ENTITLEMENT", true},
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    static const struct {
        const char *key, *title;
    } resources[] = {{"cpu", "CPU MHz"}, {"mem", "memory MiB"}};
    static const char *const figures[] = {"reservation", "limit", "shares", "demand", "entitlement"};
    struct table t;
    const json_t *p;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    json_array_foreach(json_object_get(reply, "pools"), i, p)
    {
        for (size_t r = 0; r < COUNT_OF(resources); r++) {
            const json_t *part = json_object_get(p, resources[r].key);

            table_cell(&t, r == 0 ? reply_text(p, "name") : "");
            table_cell(&t, r == 0 ? reply_text(p, "parent") : "");
            table_cell(&t, resources[r].title);
            for (size_t k = 0; k < COUNT_OF(figures); k++)
                table_number(&t, reply_number(part, figures[k]));
        }
    }
    if (i == 0)
        strbuf_puts(out, "there are no pools below the root\n");
    else
        table_render(&t, "", out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format, json_pack("{s:s}", "command", "pools"),
                       "pools", show, a, out);
}

const struct verb verb_pools = {
    .name = "pools",
    .summary = "The resource pools, with what they are entitled to.",
    .more = "Only pools below the root are listed; a limit of - is none.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
