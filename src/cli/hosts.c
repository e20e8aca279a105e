/* hosts: the hosts, with their load. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

enum { OPT_SOCKET, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"HOST", false}, {"STATE", false},   {"VMS", true},     {"CPU LOAD", true}, {"CPU MHZ", true},
    {"OF", true},    {"MEM LOAD", true}, {"MEM MIB", true}, {"OF", true},       {"WOKEN BY", false},
};

/* "ipmi, wol"; and whether it was ever seen to work. */
static void put_wake(struct table *t, const json_t *h, struct arena *a)
{
    const json_t *method;
    const char *all = "";
    size_t i;

    json_array_foreach(json_object_get(h, "wake_methods"), i, method) all =
        arena_printf(a, "%s%s%s", all, i ? ", " : "", json_string_value(method));
    if (i == 0)
        table_cell(t, NULL);
    else
        table_cellf(t, "%s%s", all,
                    reply_text(h, "wake_failed_at")                     ? " (FAILED)"
                    : json_is_true(json_object_get(h, "wake_verified")) ? " (proven)"
                                                                        : " (not proven)");
}

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
{
    static const char *const resources[] = {"cpu", "mem"};
    struct table t;
    const json_t *h;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    json_array_foreach(json_object_get(reply, "hosts"), i, h)
    {
        table_cell(&t, reply_text(h, "name"));
        table_cell(&t, reply_text(h, "state"));
        table_cellf(&t, "%lld", (long long)reply_int(h, "vms"));
        for (size_t r = 0; r < COUNT_OF(resources); r++) {
            const json_t *part = json_object_get(h, resources[r]);

            table_cellf(&t, "%.0f %%", reply_number(part, "load") * 100);
            table_cellf(&t, "%.0f", reply_number(part, "entitlement"));
            table_cellf(&t, "%.0f", reply_number(part, "capacity"));
        }
        put_wake(&t, h, a);
    }
    table_render(&t, "", out);
}

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);

    if (code != EXIT_DONE)
        return code;
    return client_show(args_value(args, OPT_SOCKET, NULL), format, json_pack("{s:s}", "command", "hosts"),
                       "hosts", show, a, out);
}

const struct verb verb_hosts = {
    .name = "hosts",
    .summary = "The hosts, with their load.",
    .more = "CPU MHZ and MEM MIB are what the VMs on a host are entitled to, OF is its capacity for VMs, and "
            "LOAD\n"
            "is the one as a share of the other. WOKEN BY names the ways to wake a host in the order of "
            "ipmi, redfish,\n"
            "wol and hypervisor, and whether one was seen to: `ballast wake HOST --verify` proves it.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
