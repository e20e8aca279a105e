/* ballast history: actions that have ended; history_energy.c has --energy. */
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/history_energy.h"
#include "cli/input.h"
#include "cli/tones.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/when.h"

#include <math.h>
#include <string.h>

#define LIMIT_MAX 1000 /* the service's limit */
#define LIMIT_DEFAULT 50

enum {
    OPT_SOCKET,
    OPT_SINCE,
    OPT_VM,
    OPT_HOST,
    OPT_STATE,
    OPT_LIMIT,
    OPT_ENERGY,
    OPT_DAYS,
    OPT_BY,
    OPT_FORMAT
};

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_SINCE] = {"since", "TIME", 0, "what ended at or after this time (" WHEN_FORMS ")"},
    [OPT_VM] = {"vm", "VM", 0, "only actions of this VM: its name or id"},
    [OPT_HOST] = {"host", "HOST", 0, "only actions of this host, moves from it and to it included"},
    [OPT_STATE] = {"state", "STATE", 0,
                   "only done, failed, cancelled, rejected or expired ones; default: all but expired"},
    [OPT_LIMIT] = {"limit", "N", 0, "list at most N actions; default 50, with --since 1000"},
    [OPT_ENERGY] = {"energy", NULL, 0, "show energy used and saved, and CPU that VMs lacked"},
    [OPT_DAYS] = {"days", "N", 0, "with --energy: today and the N - 1 days before, in UTC; default 7"},
    [OPT_BY] = {"by", "day|hour|host", 0, "with --energy: one row for each; default day"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"ID", true},           {"ENDED", .word = "ended"}, {"STATE", false},
    {"ACTION", .word = ""}, ACTION_TABLE_SUBJECT,       {"", .below = true},
};

/* The text with a separator: some texts are whole sentences. */
static const char *lead(const char *text, struct arena *a)
{
    size_t n = text ? strlen(text) : 0;

    if (n > 0 && text[n - 1] == '.')
        text = arena_strndup(a, text, n - 1);
    return arena_printf(a, "%s; ", n > 0 ? text : "-");
}

/* The text as a whole sentence. */
static const char *whole(const char *text, struct arena *a)
{
    size_t n = text ? strlen(text) : 0;

    if (n == 0)
        return "";
    return text[n - 1] == '.' ? text : arena_printf(a, "%s.", text);
}

/* The outcome or the reason; the approver, if a person; and a hint to the console output. */
static const char *sentence(const json_t *x, struct arena *a)
{
    const char *why = reply_text(x, "why");
    const char *by = reply_text(x, "approved_by");
    const char *text = why ? why : reply_text(x, "text");

    if (!text)
        text = reply_text(x, "reason");
    if (by && strcmp(by, "engine") != 0)
        text = arena_printf(a, "%sapproved by %s", lead(text, a), by);
    if (json_is_true(json_object_get(x, "console")))
        text = arena_printf(a, "%s`ballast console %lld` shows what the host said", lead(text, a),
                            (long long)reply_int(x, "id"));
    return text;
}

static const char *loads(const json_t *result, const char *of, struct arena *a)
{
    const json_t *from = json_object_get(json_object_get(result, of), "from");
    const json_t *to = json_object_get(json_object_get(result, of), "to");

    return arena_printf(a, "CPU %.0f and %.0f %%, memory %.0f and %.0f %%",
                        100 * reply_number(from, "cpu_load"), 100 * reply_number(to, "cpu_load"),
                        100 * reply_number(from, "mem_load"), 100 * reply_number(to, "mem_load"));
}

static const char *seconds(const json_t *of, const char *key, struct arena *a)
{
    double s = reply_number(of, key);

    if (isnan(s))
        return "not known";
    return s < 10 ? arena_printf(a, "%.1f s", s) : arena_printf(a, "%.0f s", s);
}

/* How long a move took, and was predicted to take. */
static const char *times(const json_t *result, struct arena *a)
{
    const json_t *predicted = json_object_get(result, "predicted");
    const json_t *measured = json_object_get(result, "measured");

    return arena_printf(a, "Took %s, copying %s; predicted: %s, copying %s.",
                        seconds(measured, "action_s", a), seconds(measured, "duration_s", a),
                        seconds(predicted, "action_s", a), seconds(predicted, "duration_s", a));
}

/* How long a move took, and what was observed ten minutes after it, beside what was predicted; NULL: nothing
 * is known of it. */
static const char *outcome(const json_t *x, struct arena *a)
{
    const json_t *result = json_object_get(x, "result");
    const json_t *observed = json_object_get(result, "observed");

    if (!json_is_object(json_object_get(result, "measured")))
        return NULL;
    if (!json_is_object(observed))
        return times(result, a);
    return arena_printf(a, "%s Loads of the two hosts, predicted: %s; observed: %s%s.", times(result, a),
                        loads(result, "predicted", a), loads(result, "observed", a),
                        json_is_true(json_object_get(observed, "overlaps"))
                            ? "; other moves touched these hosts meanwhile"
                            : "");
}

static void show_history(const json_t *reply, const struct args *args, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "history");
    struct table t = table_of(a, columns, COUNT_OF(columns));
    const json_t *x;
    size_t i;

    t.colours = cli_colours();
    t.domain = reply_text(reply, "host_domain");
    json_array_foreach(list, i, x)
    {
        table_cellf(&t, "%lld", (long long)reply_int(x, "id"));
        table_cell(&t, reply_text(x, "ended"));
        table_cell(&t, reply_text(x, "state"));
        table_tone(&t, tone_of_state(reply_text(x, "state")));
        table_cell(&t, reply_text(x, "action"));
        action_table_put_subject(&t, x);
        const char *found = outcome(x, a);

        table_cell(&t, found ? arena_printf(a, "%s %s", whole(sentence(x, a), a), found) : sentence(x, a));
    }
    if (i == 0)
        cli_put_none(args, "action that has ended", "no action has ended yet", out);
    else
        table_render(&t, "", out);
}

/* Refuses options of --energy without it, and those of actions with it. */
static enum exit_code check_options(const struct args *args, bool energy)
{
    static const struct {
        int option;
        bool of_energy;
    } list[] = {{OPT_VM, false},    {OPT_HOST, false}, {OPT_STATE, false},
                {OPT_LIMIT, false}, {OPT_DAYS, true},  {OPT_BY, true}};

    for (size_t i = 0; i < COUNT_OF(list); i++) {
        if (list[i].of_energy == energy || !args_value(args, (size_t)list[i].option, NULL))
            continue;
        return cli_fail(EXIT_WRONG, "ballast history: --%s is %s --energy, see ballast history --help",
                        options[list[i].option].name, energy ? "not for" : "for");
    }
    return EXIT_DONE;
}

/* NULL: an option is wrong, and a line says so. The service checks names and states. */
static json_t *make_request(const struct args *args)
{
    static const int filters[] = {OPT_VM, OPT_HOST, OPT_STATE};
    const char *since = args_value(args, OPT_SINCE, NULL);
    const char *limit = args_value(args, OPT_LIMIT, NULL);
    unsigned long long n = since ? LIMIT_MAX : LIMIT_DEFAULT;
    char time[RFC3339_MAX];
    instant_s from;

    if ((limit && cli_parse_number("limit", limit, 1, LIMIT_MAX, &n) != EXIT_DONE) ||
        (since && cli_parse_time("since", since, &from) != EXIT_DONE))
        return NULL;
    json_t *request = json_pack("{s:s, s:I}", "command", "history", "limit", (json_int_t)n);

    if (since)
        (void)json_object_set_new(request, "since", json_string(rfc3339_format(from, time)));
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        const char *value = args_value(args, (size_t)filters[i], NULL);

        if (value)
            (void)json_object_set_new(request, options[filters[i]].name, json_string(value));
    }
    return request;
}

static enum exit_code verb_history_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    bool energy = args_value(args, OPT_ENERGY, NULL) != NULL;
    enum exit_code code = check_options(args, energy);

    if (code != EXIT_DONE)
        return code;
    if (energy) {
        const struct energy_question q = {.since = args_value(args, OPT_SINCE, NULL),
                                          .days = args_value(args, OPT_DAYS, NULL),
                                          .by = args_value(args, OPT_BY, NULL)};
        return history_energy(args, &q, a, out);
    }
    json_t *request = make_request(args);

    if (!request)
        return EXIT_WRONG;
    if ((code = client_call(args->socket, request, &reply)) != EXIT_DONE)
        return code;
    if (args->json)
        reply_dump(json_object_get(reply, "history"), out);
    else
        show_history(reply, args, a, out);
    cli_put_more(args, (long long)reply_int(reply, "more"), "older action", "--limit, --vm, --host, --state",
                 out);
    return EXIT_DONE;
}

const struct verb verb_history = {
    .name = "history",
    .summary = "List actions that have ended, newest first; with --energy, the energy used and saved.",
    .more =
        "Below a move: its time, in all and for copying, and the loads of the VM's former and new host; "
        "predicted when the move began, and measured, the loads ten minutes after its end. The time in "
        "all includes checks and the inventory that confirms the end; it is predicted from earlier moves. "
        "--energy: USED is the energy that the hosts drew, from their meters or from their power "
        "models. ALL ON is what they would have drawn for the same work with no host in standby. "
        "SAVED is the difference; the energy of booting is part of USED. A single host can show a "
        "negative saving: it does the work of hosts in standby. ASLEEP is the share of host time "
        "spent in standby. UNMET is CPU that VMs wanted, within their limits, and did not get, "
        "for any reason: in GHz hours, and in percent of what they wanted.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .can_watch = true,
    .run = verb_history_run,
};
