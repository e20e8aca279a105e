/* ballast hosts: the hosts and their load. */
#include "cli/client.h"
#include "cli/day.h"
#include "cli/tones.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <math.h>
#include <string.h>

#define MHZ_PER_GHZ 1000.0
#define MB_PER_GB 1024.0
#define PROOFS_MAX 8 /* methods of a host */

enum { OPT_SOCKET, OPT_WIDE, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_WIDE] = {"wide", NULL, 0, "show more columns, for a wide terminal"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column narrow[] = {
    {"HOST", .host = true}, {"STATE", false}, {"VMS", true},    {"CPU", true},
    {"OF GHZ", true},       {"MEM", true},    {"OF GIB", true}, {"WOKEN BY", .word = "woken by"},
};

static const struct column wide[] = {
    {"HOST", false},       {"STATE", false},      {"VMS", true},       {"CPU LOAD", true},
    {"CPU MHZ", true},     {"OF", true},          {"MEM LOAD", true},  {"MEM MIB", true},
    {"OF", true},          {"WATTS", true},       {"SINCE", false},    {"BOOTS IN", true},
    {"DPM", false},        {"CONTROLLER", false}, {"WOKEN BY", false}, {"HARDWARE UUID", false},
    {"CPU VENDOR", false}, {"REMARKS", false},
};

static const struct {
    const char *name;
    double unit;
    int decimals;
} resources[] = {{"cpu", MHZ_PER_GHZ, 1}, {"mem", MB_PER_GB, 0}};

/* " (FAILED)": of a host's wakes, or of one method. */
static const char *host_remark(const json_t *h)
{
    return reply_text(h, "wake_failed_at")                     ? "FAILED"
           : json_is_true(json_object_get(h, "wake_verified")) ? "proven"
                                                               : "not proven";
}

static const char *method_remark(const json_t *proof, bool when, struct arena *a)
{
    const char *state = reply_text(proof, "state");
    const char *proven = reply_text(proof, "proven");

    if (!state || strcmp(state, "never") == 0)
        return "not proven";
    if (strcmp(state, "failed") == 0)
        return "FAILED";
    return when && proven ? arena_printf(a, "%s %s", state, proven) : state;
}

static bool all_equal(const char *const *texts, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (strcmp(texts[i], texts[0]) != 0)
            return false;
    }
    return true;
}

static void put_methods(struct table *t, const json_t *names, const char *remark, struct arena *a)
{
    const json_t *method;
    const char *all = "";
    size_t i;

    json_array_foreach(names, i, method) all =
        arena_printf(a, "%s%s%s", all, i ? "," : "", json_string_value(method));
    if (i == 0)
        table_cell(t, NULL);
    else
        table_cellf(t, "%s (%s)", all, remark);
}

/* "ipmi,wol (proven)"; where methods differ, each has its own: "ipmi (FAILED), wol (proven)". The one that is
 * tried now, or a wake that failed by all, is told instead. when: with the time of the proof. */
static void put_wake(struct table *t, const json_t *h, bool when, struct arena *a)
{
    const json_t *names = json_object_get(h, "wake_methods");
    const json_t *proofs = json_object_get(h, "wake_proofs");
    const char *now = reply_text(json_object_get(h, "waking"), "method");
    const size_t n = json_array_size(proofs);
    const char *remarks[PROOFS_MAX];
    const char *all = "";

    if (now)
        put_methods(t, names, arena_printf(a, "%s now", now), a);
    if (now)
        return;
    /* of a source that wakes its hosts by itself it is not known by which of its methods */
    if (reply_text(h, "wake_failed_at") || n != json_array_size(names) || n > PROOFS_MAX) {
        put_methods(t, names, host_remark(h), a);
        return;
    }
    for (size_t i = 0; i < n; i++)
        remarks[i] = method_remark(json_array_get(proofs, i), when, a);
    if (all_equal(remarks, n)) {
        put_methods(t, names, n > 0 ? remarks[0] : "", a);
        return;
    }
    for (size_t i = 0; i < n; i++)
        all = arena_printf(a, "%s%s%s (%s)", all, i ? ", " : "",
                           reply_text(json_array_get(proofs, i), "method"), remarks[i]);
    table_cell(t, all);
}

static void put_known(struct table *t, double v, const char *unit)
{
    if (isnan(v))
        table_cell(t, NULL);
    else
        table_cellf(t, "%.0f%s", v, unit);
}

static void put_load(struct table *t, const json_t *part)
{
    table_cellf(t, "%.0f %%", reply_number(part, "load") * 100);
    table_tone(t, tone_of_load(reply_number(part, "load")));
}

static void put_narrow(struct table *t, const json_t *h)
{
    for (size_t r = 0; r < COUNT_OF(resources); r++) {
        const json_t *part = json_object_get(h, resources[r].name);

        put_load(t, part);
        table_cellf(t, "%.*f", resources[r].decimals, reply_number(part, "capacity") / resources[r].unit);
    }
}

static void put_wide(struct table *t, const json_t *h)
{
    const char *on = reply_text(h, "on_since");
    const char *asleep = reply_text(h, "standby_since");

    for (size_t r = 0; r < COUNT_OF(resources); r++) {
        const json_t *part = json_object_get(h, resources[r].name);

        put_load(t, part);
        table_cellf(t, "%.0f", reply_number(part, "entitlement"));
        table_cellf(t, "%.0f", reply_number(part, "capacity"));
    }
    put_known(t, reply_number(h, "power_w"), "");
    table_cell(t, asleep ? asleep : on);
    put_known(t, reply_number(h, "boot_s"), " s");
    table_cell(t, reply_text(h, "dpm"));
    table_cell(t, reply_text(json_object_get(h, "identity"), "state"));
}

/* Which machine it is, and what keeps Ballast from using it as any other. */
static void put_hardware(struct table *t, const json_t *h, struct arena *a)
{
    const char *detection = reply_text(h, "failure_detection");
    const char *remarks = "";

    if (json_is_true(json_object_get(h, "quarantine")))
        remarks = "quarantine";
    if (reply_text(h, "distrusted_until"))
        remarks = arena_printf(a, "%s%slost %.0f times, distrusted until %s", remarks, *remarks ? ", " : "",
                               reply_number(h, "losses"), reply_text(h, "distrusted_until"));
    if (json_is_true(json_object_get(h, "vsan")))
        remarks = arena_printf(a, "%s%svSAN", remarks, *remarks ? ", " : "");
    if (json_is_true(json_object_get(h, "serves_storage")))
        remarks = arena_printf(a, "%s%sserves storage", remarks, *remarks ? ", " : "");
    if (detection && strcmp(detection, "unhealthy") == 0)
        remarks = arena_printf(a, "%s%sfailure detection unhealthy", remarks, *remarks ? ", " : "");
    table_cell(t, reply_text(h, "hardware_uuid"));
    table_cell(t, reply_text(h, "cpu_vendor"));
    table_cell(t, *remarks ? remarks : NULL);
}

/* Where the memory in use and what the VMs consume differ by more than a tenth. */
static void put_real_use(const json_t *h, struct arena *a, struct strbuf *out)
{
    double used = reply_number(h, "mem_used_mb");
    double vms = reply_number(h, "mem_vms_mb");

    if (!(fabs(used - vms) > used / 10)) /* also where one is not known */
        return;
    table_put_wrapped(out,
                      arena_printf(a,
                                   "%s has %.1f GiB of memory in use, its VMs %.1f GiB; own use of the host: "
                                   "%.1f GiB, %.1f GHz (%s)",
                                   reply_text(h, "name"), used / MB_PER_GB, vms / MB_PER_GB,
                                   reply_number(h, "own_mem_mb") / MB_PER_GB,
                                   reply_number(h, "own_cpu_mhz") / MHZ_PER_GHZ, reply_text(h, "own_at")),
                      0);
}

/* Where a host has no memory left, whatever its VMs' figures say. */
static void put_pressure(const json_t *h, struct arena *a, struct strbuf *out)
{
    double swaps = reply_number(h, "swap_in_mb_s");
    double waits = reply_number(h, "mem_pressure");

    if (swaps > 0)
        table_put_wrapped(
            out,
            arena_printf(a, "%s has read swapped memory back for five minutes: %.1f MiB/s at least",
                         reply_text(h, "name"), swaps),
            0);
    if (waits > 0)
        table_put_wrapped(out,
                          arena_printf(a, "on %s all waited for memory in %.1f %% of the last five minutes",
                                       reply_text(h, "name"), 100 * waits),
                          0);
}

static void put_hosts(const json_t *reply, bool all, struct arena *a, struct strbuf *out)
{
    struct table t = table_of(a, all ? wide : narrow, all ? COUNT_OF(wide) : COUNT_OF(narrow));
    const json_t *h;
    size_t i;

    t.colours = cli_colours();
    t.domain = reply_text(reply, "host_domain");
    if (all)
        t.width = TABLE_WIDTH_ANY;
    json_array_foreach(json_object_get(reply, "hosts"), i, h)
    {
        table_cell(&t, reply_text(h, "name"));
        table_cellf(&t, "%s%s", reply_text(h, "state"),
                    json_is_false(json_object_get(h, "in_inventory")) ? ", not in inventory" : "");
        table_tone(&t, tone_of_state(reply_text(h, "state")));
        table_cellf(&t, "%lld", (long long)reply_int(h, "vms"));
        if (all)
            put_wide(&t, h);
        else
            put_narrow(&t, h);
        put_wake(&t, h, all, a);
        if (all)
            put_hardware(&t, h, a);
    }
    table_render(&t, "", out);
    json_array_foreach(json_object_get(reply, "hosts"), i, h)
    {
        const char *why = reply_text(h, "disconnected_why");

        if (why)
            table_put_wrapped(out, arena_printf(a, "%s is disconnected: %s", reply_text(h, "name"), why), 0);
        put_real_use(h, a, out);
        put_pressure(h, a, out);
    }
}

static void show_hosts(const json_t *reply, struct arena *a, struct strbuf *out)
{
    put_hosts(reply, false, a, out);
}

static void show_wide(const json_t *reply, struct arena *a, struct strbuf *out)
{
    put_hosts(reply, true, a, out);
}

static enum exit_code verb_hosts_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    if (args->n_operands > 0)
        return client_show(args, day_request("host", args->operands[0]), "series", day_show, a, out);
    return client_show(args, json_pack("{s:s}", "command", "hosts"), "hosts",
                       args->options[OPT_WIDE].n > 0 ? show_wide : show_hosts, a, out);
}

const struct verb verb_hosts = {
    .name = "hosts",
    .summary = "List the hosts and their load; of one host, demand, entitlement and delivery of its VMs over "
               "the last day.",
    .operands = "[HOST]",
    .operands_max = 1,
    .more =
        "CPU and MEM: what the VMs on the host are entitled to, in percent of the host's capacity "
        "for VMs (OF GHZ, OF GIB). WOKEN BY: the methods that can wake the host. Each is proven once a "
        "wake succeeded that no other method can have done, until its settings change (expired) or it "
        "does not wake the host (FAILED; `ballast status` says why); or the method that is tried just "
        "now (redfish now). `ballast wake HOST --verify` proves one. --wide adds power "
        "draw, time since the host is on or in standby, boot time, the host's own power "
        "management level, CONTROLLER: whether its controllers report its hardware UUID (matches), "
        "another machine's (differs), nothing that could be compared (unknown), or were confirmed by a "
        "person (confirmed), the UUID of its hardware, and what sets it apart. Below the table stand the "
        "hosts whose memory in use and that of their VMs differ by more than a tenth, with what the host "
        "uses itself beyond what is reserved for it, and when that was seen. With a host's id or name: the "
        "figures of `ballast vms VM`, summed over the VMs on the host. ballast-concepts(7) defines the "
        "terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .can_watch = true,
    .run = verb_hosts_run,
};
