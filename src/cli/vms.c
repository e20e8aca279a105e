/* ballast vms: the VMs and their demand. */
#include "cli/client.h"
#include "cli/day.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <math.h>
#include <string.h>

static const struct column columns[] = {
    {"VM", false},
    {"HOST", .host = true},
    {"STATE", false},
    {"CPU MHZ", true},
    {"MEM MIB", true},
    {"SCORE %", true, .optional = true, .word = "score"},
    {"AUTOMATION", .optional = true, .word = "automation"},
    {"LAST MOVED", .optional = true, .word = "last moved"},
};

/* The lower of the two scores (engine/look.h). */
static void put_score(struct table *t, const json_t *vm)
{
    const double score = fmin(reply_number(json_object_get(vm, "cpu"), "score"),
                              reply_number(json_object_get(vm, "mem"), "score"));

    if (isnan(score))
        table_cell(t, NULL);
    else
        table_cellf(t, "%.0f", score);
}

static void show_vms(const json_t *reply, struct arena *a, struct strbuf *out)
{
    struct table t = table_of(a, columns, COUNT_OF(columns));
    const json_t *v;
    size_t i;

    t.colours = cli_colours();
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
        put_score(&t, v);
        const char *automation = reply_text(v, "automation");
        table_cell(&t, automation && strcmp(automation, "inherit") == 0 ? NULL : automation);
        table_cell(&t, reply_text(v, "last_migrated"));
    }
    table_render(&t, "", out);
}

static enum exit_code verb_vms_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (args->n_operands == 0)
        return client_show(args, json_pack("{s:s}", "command", "vms"), "vms", show_vms, a, out);
    return client_show(args, day_request("vm", args->operands[0]), "series", day_show, a, out);
}

const struct verb verb_vms = {
    .name = "vms",
    .summary =
        "List the VMs and their demand; of one VM, demand, entitlement and delivery over the last day.",
    .operands = "[VM]",
    .operands_max = 1,
    .more = "CPU and memory are the present demand, within reservation and limit; ? if it could not "
            "be read. SCORE: the part that was delivered in the last minute or so of what was "
            "due (the demand, but no more than the entitlement), by the scarcer resource. AUTOMATION: - is "
            "that of the cluster. With a VM's "
            "id or name: means over the last hour and day, the highest demand, and the score.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .can_watch = true,
    .run = verb_vms_run,
};
