/* ballast history: actions that have ended; history_energy.c has --energy. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/history_energy.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/when.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MAX 1000 /* the service's limit */

enum { OPT_SOCKET, OPT_LIMIT, OPT_ENERGY, OPT_SINCE, OPT_DAYS, OPT_BY, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_LIMIT] = {"limit", "N", 0, "list at most N actions; default 50"},
    [OPT_ENERGY] = {"energy", NULL, 0, "show energy used and saved, and CPU that VMs lacked"},
    [OPT_SINCE] = {"since", "TIME", 0, "with --energy: from this time on (" WHEN_FORMS ")"},
    [OPT_DAYS] = {"days", "N", 0, "with --energy: today and the N - 1 days before, in UTC; default 7"},
    [OPT_BY] = {"by", "day|hour|host", 0, "with --energy: one row for each; default day"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"ID", true},      {"ENDED", false}, {"STATE", false},
    {"ACTION", false}, {"WHAT", false},  {"", false, .below = true},
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

static const char *duration(const json_t *result, const char *of, struct arena *a)
{
    double s = reply_number(json_object_get(result, of), "duration_s");

    return isnan(s) ? "time not known" : arena_printf(a, "%.0f s", s);
}

/* What was predicted of a move, and observed ten minutes after it; NULL: nothing was. */
static const char *outcome(const json_t *x, struct arena *a)
{
    const json_t *result = json_object_get(x, "result");
    const json_t *observed = json_object_get(result, "observed");

    if (!json_is_object(observed))
        return NULL;
    return arena_printf(
        a, "Loads of the two hosts, predicted: %s (%s); observed: %s (%s)%s.", loads(result, "predicted", a),
        duration(result, "predicted", a), loads(result, "observed", a), duration(result, "observed", a),
        json_is_true(json_object_get(observed, "overlaps")) ? "; other moves touched these hosts meanwhile"
                                                            : "");
}

static void show_history(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "history");
    struct table t;
    const json_t *x;
    size_t i;

    table_init(&t, a, columns, COUNT_OF(columns));
    t.wrap = TERMINAL_WIDTH;
    json_array_foreach(list, i, x)
    {
        table_cellf(&t, "%lld", (long long)reply_int(x, "id"));
        table_cell(&t, reply_text(x, "ended"));
        table_cell(&t, reply_text(x, "state"));
        table_cell(&t, reply_text(x, "action"));
        table_cell(&t, action_table_subject(x, a));
        const char *found = outcome(x, a);

        table_cell(&t, found ? arena_printf(a, "%s %s", whole(sentence(x, a), a), found) : sentence(x, a));
    }
    if (i == 0)
        strbuf_puts(out, "no action has ended yet\n");
    else
        table_render(&t, "", out);
}

/* Refuses options of --energy without it, and --limit with it. */
static enum exit_code check_options(const struct args *args, bool energy)
{
    static const int of_energy[] = {OPT_SINCE, OPT_DAYS, OPT_BY};

    if (energy && args_value(args, OPT_LIMIT, NULL)) {
        cli_error("ballast history: --limit is not for --energy, see ballast history --help");
        return EXIT_WRONG;
    }
    for (size_t i = 0; !energy && i < COUNT_OF(of_energy); i++) {
        if (!args_value(args, (size_t)of_energy[i], NULL))
            continue;
        cli_error("ballast history: --%s is for --energy, see ballast history --help",
                  options[of_energy[i]].name);
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}

static enum exit_code verb_history_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *limit = args_value(args, OPT_LIMIT, "50");
    enum cli_format format;
    enum exit_code code = cli_parse_format(args, OPT_FORMAT, &format);
    char *end;

    bool energy = args_value(args, OPT_ENERGY, NULL) != NULL;

    if (code != EXIT_DONE || (code = check_options(args, energy)) != EXIT_DONE)
        return code;
    if (energy) {
        const struct energy_question q = {.socket = args_value(args, OPT_SOCKET, NULL),
                                          .since = args_value(args, OPT_SINCE, NULL),
                                          .days = args_value(args, OPT_DAYS, NULL),
                                          .by = args_value(args, OPT_BY, NULL)};
        return history_energy(&q, format, a, out);
    }
    errno = 0;
    long long n = strtoll(limit, &end, 10);
    if (errno != 0 || end == limit || *end != '\0' || n < 1 || n > LIMIT_MAX) {
        cli_error("--limit: \"%s\" is wrong, expected a whole number from 1 to %d", limit, LIMIT_MAX);
        return EXIT_WRONG;
    }
    return client_show(args_value(args, OPT_SOCKET, NULL), format,
                       json_pack("{s:s, s:I}", "command", "history", "limit", (json_int_t)n), "history",
                       show_history, a, out);
}

const struct verb verb_history = {
    .name = "history",
    .summary = "List actions that have ended, newest first; with --energy, the energy used and saved.",
    .more = "Below a move stand the loads of its hosts, first of the one that the VM left, then of the one "
            "that it came to: predicted when the move began, and observed ten minutes after its end; with "
            "the duration. "
            "--energy: USED is the energy that the hosts drew, from their meters or from their power "
            "models. ALL ON is what they would have drawn for the same work with no host in standby. "
            "SAVED is the difference; the energy of booting is part of USED. A single host can show a "
            "negative saving: it does the work of hosts in standby. ASLEEP is the share of host time "
            "spent in standby. UNMET is CPU that VMs wanted, within their limits, and did not get, "
            "for any reason: in GHz hours, and in percent of what they wanted.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_history_run,
};
