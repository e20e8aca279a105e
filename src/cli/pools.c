/* ballast pools: the resource pools and their entitlement. */
#include "cli/client.h"
#include "cli/day.h"
#include "cli/verbs.h"
#include "render/table.h"

static const struct column columns[] = {
    {"POOL", false},     {"PARENT", .optional = true, .word = "in"},
    {"RESOURCE", false}, {"RESERVATION", true},
    {"LIMIT", true},     {"SHARES", true},
    {"DEMAND", true},    {"ENTITLEMENT", true},
};

static void show_pools(const json_t *reply, struct arena *a, struct strbuf *out)
{
    static const struct {
        const char *key, *title;
    } resources[] = {{"cpu", "CPU MHz"}, {"mem", "memory MiB"}};
    static const char *const figures[] = {"reservation", "limit", "shares", "demand", "entitlement"};
    struct table t = table_of(a, columns, COUNT_OF(columns));
    const json_t *p;
    size_t i;

    t.colours = cli_colours();
    json_array_foreach(json_object_get(reply, "pools"), i, p)
    {
        for (size_t r = 0; r < COUNT_OF(resources); r++) {
            const json_t *part = json_object_get(p, resources[r].key);

            table_cell(&t, r == 0 ? reply_text(p, "name") : "");
            table_cell(&t, r == 0 ? reply_text(p, "parent_name") : "");
            table_cell(&t, resources[r].title);
            for (size_t k = 0; k < COUNT_OF(figures); k++)
                table_number(&t, reply_number(part, figures[k]));
        }
    }
    if (i == 0)
        strbuf_puts(out, "no resource pools\n");
    else
        table_render(&t, "", out);
}

static enum exit_code verb_pools_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (args->n_operands > 0)
        return client_show(args, day_request("pool", args->operands[0]), "series", day_show, a, out);
    return client_show(args, json_pack("{s:s}", "command", "pools"), "pools", show_pools, a, out);
}

const struct verb verb_pools = {
    .name = "pools",
    .summary = "List the resource pools and their entitlement; of one pool, demand, entitlement and delivery "
               "over the last day.",
    .operands = "[POOL]",
    .operands_max = 1,
    .more = "The root pool is not listed. A limit of - means no limit. With a pool's id or name: the figures "
            "of `ballast vms VM`, summed over the VMs of the pool and of the pools below it. "
            "ballast-concepts(7) defines the terms.",
    .options = client_options,
    .n_options = CLIENT_OPT_COUNT,
    .needs_service = true,
    .can_watch = true,
    .run = verb_pools_run,
};
