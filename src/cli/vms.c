/* vms: the VMs, with what they want. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"VM", false},     {"HOST", false},       {"STATE", false},      {"CPU MHZ", true},
    {"MEM MIB", true}, {"AUTOMATION", false}, {"LAST MOVED", false},
};

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    struct table t;
    const json_t *v;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    json_array_foreach(json_object_get(reply, "vms"), i, v)
    {
        bool unknown = json_is_true(json_object_get(v, "demand_unknown"));

        table_cell(&t, reply_text(v, "name"));
        table_cell(&t, reply_text(v, "host_name"));
        table_cell(&t, reply_text(v, "state"));
        if (unknown) {
            table_cell(&t, "?");
            table_cell(&t, "?");
        } else {
            table_cellf(&t, "%.0f", reply_number(json_object_get(v, "cpu"), "demand"));
            table_cellf(&t, "%.0f", reply_number(json_object_get(v, "mem"), "demand"));
        }
        table_cell(&t, reply_text(v, "automation"));
        table_cell(&t, reply_text(v, "last_migrated"));
    }
    table_render(&t, "", out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format, json_pack("{s:s}", "command", "vms"),
                       "vms", show, a, out);
}

const struct verb verb_vms = {
    .name = "vms",
    .summary = "The VMs, with what they want.",
    .more =
        "CPU and memory are the present demand, within reservation and limit; ? where it could not be read.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
