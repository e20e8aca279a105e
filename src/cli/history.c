/* history: actions that have ended, or, with --energy, what the hosts drew. */
#include "cli/client.h"
#include "cli/history_energy.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MAX 1000 /* the service's */

enum { OPT_SOCKET, OPT_LIMIT, OPT_ENERGY, OPT_SINCE, OPT_DAYS, OPT_BY, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_LIMIT] = {"limit", "N", 0, "at most so many (50)"},
    [OPT_ENERGY] = {"energy", NULL, 0, "instead, what the hosts drew, and what VMs lacked"},
    [OPT_SINCE] = {"since", "TIME", 0, "energy: from then on (" WHEN_FORMS ")"},
    [OPT_DAYS] = {"days", "N", 0, "energy: of today and the N - 1 days before it, in UTC (7)"},
    [OPT_BY] = {"by", "day|hour|host", 0, "energy: a row for each (day)"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

static const struct column columns[] = {
    {"ID", true},      {"ENDED", false}, {"STATE", false},
    {"ACTION", false}, {"WHAT", false},  {"", false, .below = true},
};

/* The text, with what parts it from what is said after it: some are whole sentences. */
static const char *lead(const char *text, struct arena *a)
{
    size_t n = text ? strlen(text) : 0;

    if (n > 0 && text[n - 1] == '.')
        text = arena_strndup(a, text, n - 1);
    return arena_printf(a, "%s; ", n > 0 ? text : "-");
}

/* What became of it, or why it was; by whom, where a person said so; and where to read on. */
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

static void show(const json_t *reply, struct arena *a, struct strbuf *out)
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
        table_cell(&t, action_what(x, a));
        table_cell(&t, sentence(x, a));
    }
    if (i == 0)
        strbuf_puts(out, "nothing has ended yet\n");
    else
        table_render(&t, "", out);
}

/* An option of the one is a mistake with the other. */
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

static enum exit_code run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *limit = args_value(args, OPT_LIMIT, "50");
    enum cli_format format;
    enum exit_code code = cli_format(args, OPT_FORMAT, &format);
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
                       json_pack("{s:s, s:I}", "command", "history", "limit", (json_int_t)n), "history", show,
                       a, out);
}

const struct verb verb_history = {
    .name = "history",
    .summary = "Actions that have ended, newest first; or what the hosts drew.",
    .more =
        "--energy: USED is what was drawn, as meters say or else the hosts' power models; ALL ON what would\n"
        "have been, had no host slept and all shared the same work; SAVED the difference: waking is paid\n"
        "for in it. A single host may have saved less than nothing: it does the work of those that sleep.\n"
        "ASLEEP is a part of the time of all hosts. UNMET is CPU that VMs wanted, within their\n"
        "limits, and did not get: the price, whatever else has caused some of it.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = run,
};
