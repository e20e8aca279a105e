/* ballast top: hosts by load, the imbalance, what moves and what waits, on one screen. */
#include "base/cleanup.h"
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/tones.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 16
#define ACTIONS_SHOWN 8

enum { OPT_SOCKET, OPT_SORT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_SORT] = {"sort", "load|cpu|mem|name", 0, "order of the hosts; default load: the higher of both"},
};

static const struct column columns[] = {
    {"HOST", .host = true}, {"STATE", false}, {"VMS", true},       {"CPU", true},
    {"", .tight = true},    {"MEM", true},    {"", .tight = true}, {"WATTS", true},
};

/* ---- the head -------------------------------------------------------------------------------- */

static const char *counted(const json_t *counts, const char *state, struct arena *a)
{
    long long n = (long long)reply_int(counts, state);

    return n > 0 ? arena_printf(a, ", %lld %s", n, state) : "";
}

static void put_head(const json_t *st, struct arena *a, struct strbuf *out)
{
    const json_t *pass = json_object_get(st, "pass");
    const json_t *power = json_object_get(st, "power");
    const json_t *counts = json_object_get(st, "actions");
    const json_t *age = json_object_get(json_object_get(st, "source"), "seen_age_s");
    const char *source = reply_text(json_object_get(st, "source"), "state");
    double watts = reply_number(power, "watts");

    table_put_text(out, arena_printf(a, "%s: %lld hosts, %zu asleep, %lld VMs; automation %s%s",
                                     reply_text(st, "cluster"), (long long)reply_int(st, "hosts"),
                                     json_array_size(json_object_get(st, "asleep")),
                                     (long long)reply_int(st, "vms"), reply_text(st, "automation"),
                                     json_is_true(json_object_get(st, "frozen")) ? "; PAUSED" : ""));
    strbuf_printf(out, "\nimbalance %.3f, target %.3f; power %s\n", reply_number(pass, "imbalance"),
                  reply_number(pass, "target"), isnan(watts) ? "unknown" : arena_printf(a, "%.0f W", watts));
    strbuf_printf(out, "actions: %lld recommended%s%s%s%s\n", (long long)reply_int(counts, "recommended"),
                  counted(counts, "approved", a), counted(counts, "starting", a),
                  counted(counts, "running", a), counted(counts, "verifying", a));
    strbuf_printf(out, "source %s, last read %s; %zu faults\n\n", source ? source : "?",
                  json_is_integer(age) ? arena_printf(a, "%lld s ago", (long long)json_integer_value(age))
                                       : "never",
                  json_array_size(json_object_get(st, "faults")));
}

/* ---- the hosts ------------------------------------------------------------------------------- */

struct row {
    const json_t *host;
    double key;
    size_t index; /* in the service's order, which is by name */
};

static double load_of(const json_t *host, const char *resource)
{
    return reply_number(json_object_get(host, resource), "load");
}

static double key_of(const json_t *host, const char *sort)
{
    double cpu = load_of(host, "cpu"), mem = load_of(host, "mem");

    if (strcmp(sort, "name") == 0)
        return 0;
    return strcmp(sort, "cpu") == 0 ? cpu : strcmp(sort, "mem") == 0 ? mem : fmax(cpu, mem);
}

static int by_key(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    double left = isnan(a->key) ? -1 : a->key, right = isnan(b->key) ? -1 : b->key;

    return left > right ? -1 : left < right ? 1 : a->index < b->index ? -1 : 1;
}

static void put_load(struct table *t, double load, struct arena *a)
{
    double part = fmin(fmax(isnan(load) ? 0 : load, 0), 1);
    char bar[BAR_WIDTH + 1];

    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)lround(part * BAR_WIDTH) ? '|' : '.';
    bar[BAR_WIDTH] = '\0';
    table_cell(t, isnan(load) ? NULL : arena_printf(a, "%.0f %%", load * 100));
    table_tone(t, tone_of_load(load));
    table_cell(t, arena_strdup(a, bar));
    table_tone(t, tone_of_load(load));
}

static void put_hosts(const json_t *reply, const char *sort, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "hosts");
    const json_t *h;
    size_t n = json_array_size(list), i;
    struct row *rows = arena_array(a, struct row, n + 1);
    struct table t = table_of(a, columns, COUNT_OF(columns));

    json_array_foreach(list, i, h) rows[i] = (struct row){h, key_of(h, sort), i};
    qsort(rows, n, sizeof *rows, by_key);
    t.colours = cli_colours();
    t.domain = reply_text(reply, "host_domain");
    for (i = 0; i < n; i++) {
        double watts = reply_number(rows[i].host, "power_w");

        table_cell(&t, reply_text(rows[i].host, "name"));
        table_cell(&t, reply_text(rows[i].host, "state"));
        table_tone(&t, tone_of_state(reply_text(rows[i].host, "state")));
        table_cellf(&t, "%lld", (long long)reply_int(rows[i].host, "vms"));
        put_load(&t, load_of(rows[i].host, "cpu"), a);
        put_load(&t, load_of(rows[i].host, "mem"), a);
        table_cell(&t, isnan(watts) ? NULL : arena_printf(a, "%.0f", watts));
    }
    table_render(&t, "", out);
}

/* ---- the actions ----------------------------------------------------------------------------- */

static bool is_under_way(const json_t *action)
{
    const char *state = reply_text(action, "state");

    return state && (strcmp(state, "starting") == 0 || strcmp(state, "running") == 0 ||
                     strcmp(state, "verifying") == 0);
}

static void put_actions(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *x;
    size_t i, n = 0;

    json_array_foreach(json_object_get(reply, "recommendations"), i, x)
    {
        if (!is_under_way(x) || ++n > ACTIONS_SHOWN)
            continue;
        double percent = reply_number(x, "percent");

        table_put_text(out,
                       arena_printf(a, "%s %s %s %s%s", action_table_number(x, a), reply_text(x, "action"),
                                    action_table_subject(x, a), reply_text(x, "state"),
                                    isnan(percent) ? "" : arena_printf(a, " (%.0f %%)", percent)));
        strbuf_puts(out, "\n");
    }
    if (n > ACTIONS_SHOWN)
        strbuf_printf(out, "and %zu more\n", n - ACTIONS_SHOWN);
    if (n > 0)
        strbuf_puts(out, "\n");
}

/* ---- the verb -------------------------------------------------------------------------------- */

static enum exit_code verb_top_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *socket = args->socket;
    const char *sort = args_value(args, OPT_SORT, "load");
    CLEANUP(json_decrefp) json_t *status = NULL;
    CLEANUP(json_decrefp) json_t *hosts = NULL;
    CLEANUP(json_decrefp) json_t *actions = NULL;
    enum exit_code code;

    if ((code = client_call(socket, json_pack("{s:s}", "command", "status"), &status)) != EXIT_DONE ||
        (code = client_call(socket, json_pack("{s:s}", "command", "hosts"), &hosts)) != EXIT_DONE ||
        (code = client_call(socket, json_pack("{s:s}", "command", "recommendations"), &actions)) != EXIT_DONE)
        return code;
    put_head(json_object_get(status, "status"), a, out);
    put_actions(actions, a, out);
    put_hosts(hosts, sort, a, out);
    return EXIT_DONE;
}

const struct verb verb_top = {
    .name = "top",
    .summary = "Show hosts by load, imbalance, actions and power on one screen, live.",
    .more = "On a terminal it is drawn again every two seconds, until q, and scrolls (arrows, Page Up, Page "
            "Down, Home, End); else it is printed once. CPU and MEM are the loads of `ballast hosts`. "
            "ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .watches = true,
    .run = verb_top_run,
};
