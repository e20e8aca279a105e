/* ballast vms: the VMs and their demand. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <string.h>

static const struct column columns[] = {
    {"VM", false},
    {"HOST", .host = true},
    {"STATE", false},
    {"CPU MHZ", true},
    {"MEM MIB", true},
    {"AUTOMATION", .optional = true, .word = "automation"},
    {"LAST MOVED", .optional = true, .word = "last moved"},
};

static void show_vms(const json_t *reply, struct arena *a, struct strbuf *out)
{
    struct table t;
    const json_t *v;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    t.domain = reply_text(reply, "host_domain");
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
        const char *automation = reply_text(v, "automation");
        table_cell(&t, automation && strcmp(automation, "inherit") == 0 ? NULL : automation);
        table_cell(&t, reply_text(v, "last_migrated"));
    }
    table_render(&t, "", out);
}

static enum exit_code verb_vms_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    return client_ask(args, json_pack("{s:s}", "command", "vms"), "vms", show_vms, a, out);
}

const struct verb verb_vms = {
    .name = "vms",
    .summary = "List the VMs and their demand.",
    .more = "CPU and memory are the present demand, within reservation and limit; ? if it could not "
            "be read. AUTOMATION: - is that of the cluster.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .run = verb_vms_run,
};
