/* ballast events: stored events, and with --follow new ones as they come. */
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "render/table.h"
#include "schedule/when.h"

#include <ballast/names.h>

#include <string.h>

#define BATCH 1000 /* the service's limit */
#define SHOWN "50"
#define EVENT_INDENT 4 /* of the second line of an event and those that follow */

enum { OPT_SOCKET, OPT_FOLLOW, OPT_SINCE, OPT_VM, OPT_HOST, OPT_KIND, OPT_LIMIT, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FOLLOW] = {"follow", NULL, 0, "keep printing new events until interrupted"},
    [OPT_SINCE] = {"since", "TIME|ID", 0,
                   "events from this time on (" WHEN_FORMS "), or after this event number"},
    [OPT_VM] = {"vm", "VM", 0, "only events about this VM: its name or id"},
    [OPT_HOST] = {"host", "HOST", 0, "only events about this host, moves from it and to it included"},
    [OPT_KIND] = {"kind", "KIND", 0,
                  "only events of this kind (listed in names.md); host: all that happened to hosts"},
    [OPT_LIMIT] = {"limit", "N", 0, "without --since: the last N; default " SHOWN},
    [OPT_FORMAT] = OPTION_FORMAT,
};

struct showing {
    const struct args *args;
    bool json;
    bool lines; /* JSON: one object a line, because the list is endless */
    bool any;
    int64_t last; /* id */
    int64_t earlier;
    size_t n; /* of the last reply */
    struct strbuf *out;
};

/* " 7 migrate web-1: esx1 -> esx2", and why, where it went otherwise; at first its sentence. */
static const char *action_text(const json_t *action, const char *text, struct arena *a)
{
    const char *state = reply_text(action, "state");
    const char *kind = reply_text(action, "action");
    const char *why = reply_text(action, "why");

    if (!why && text && state && strcmp(state, "recommended") == 0) /* its sentence names VM and hosts */
        return arena_printf(a, " %s %s: %s", action_table_number(action, a), kind ? kind : "-", text);
    return arena_printf(a, " %s %s %s%s%s", action_table_number(action, a), kind ? kind : "-",
                        action_table_subject(action, a), why ? "; " : "", why ? why : "");
}

/* "2026-01-01T00:00:00Z 12 info action.running 7 migrate web-1: esx1 -> esx2", or the kind and its sentence.
 */
static void show_line(const json_t *ev, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const json_t *data = json_object_get(ev, "data");
    const json_t *action = json_object_get(data, "action");
    const char *text = reply_text(data, "text");
    const char *time = reply_text(ev, "time");
    const char *what =
        json_is_object(action) ? action_text(action, text, &a) : arena_printf(&a, ": %s", text ? text : "");

    strbuf_puts(out, time ? time : "-");
    table_put_hanging(out,
                      arena_printf(&a, "%lld %s %s%s", (long long)reply_int(ev, "id"),
                                   reply_or_dash(ev, "severity"),
                                   names_event_shown(reply_or_dash(ev, "type")), what),
                      time ? strlen(time) : 1, EVENT_INDENT);
}

static void show_json(struct showing *s, const json_t *ev)
{
    CLEANUP(freep) char *text = json_dumps(ev, JSON_COMPACT | JSON_REAL_PRECISION(12));

    if (!s->lines)
        strbuf_puts(s->out, s->any ? ",\n  " : "[\n  ");
    utf8_put_json(s->out, text ? text : "null", strlen(text ? text : "null"));
    if (s->lines)
        strbuf_puts(s->out, "\n");
}

static void show(struct showing *s, const json_t *reply)
{
    const json_t *list = json_object_get(reply, "events");
    const json_t *ev;
    size_t i;

    s->n = json_array_size(list);
    s->earlier = reply_int(reply, "earlier");
    json_array_foreach(list, i, ev)
    {
        if (s->json)
            show_json(s, ev);
        else
            show_line(ev, s->out);
        s->any = true;
        s->last = reply_int(ev, "id");
    }
}

/* A line of the stream is written at once. */
static enum exit_code show_now(void *ctx, const json_t *reply)
{
    struct showing *s = ctx;

    show(s, reply);
    enum exit_code code = cli_write(s->out);

    strbuf_clear(s->out);
    return code;
}

/* ---- the request ----------------------------------------------------------------------------- */

/* The word that programs read, of one that text shows. NULL: it is none, and a line has been printed. */
static const char *kind_word(const char *given, struct arena *a)
{
    const char *all = "";

    for (unsigned k = 0; k < event_kind_count; k++) {
        const char *word = event_kind_name((enum event_kind)k), *shown = names_event_shown(word);

        if (strcmp(shown, given) == 0 || strcmp(word, given) == 0)
            return word;
        all = arena_printf(a, "%s%s%s", all, k > 0 ? ", " : "", shown);
    }
    (void)cli_fail(EXIT_WRONG, "ballast events: --kind: \"%s\" is no kind of event, expected one of %s",
                   given, all);
    return NULL;
}

static enum exit_code read_request(const struct args *args, struct arena *a, json_t *request)
{
    const char *since = args_value(args, OPT_SINCE, NULL);
    const char *limit = args_value(args, OPT_LIMIT, SHOWN);
    char time[RFC3339_MAX];
    instant_s from;
    unsigned long long id, n;

    if (cli_parse_number("limit", limit, 1, BATCH, &n) != EXIT_DONE)
        return EXIT_WRONG;
    if (since && args_value(args, OPT_LIMIT, NULL))
        return cli_fail(EXIT_WRONG, "ballast events: give --since or --limit, not both");
    if (since && *since && since[strspn(since, "0123456789")] == '\0') {
        if (cli_parse_number("since", since, 0, INT64_MAX, &id) != EXIT_DONE)
            return EXIT_WRONG;
        (void)json_object_set_new(request, "after", json_integer((json_int_t)id));
    } else if (since) {
        if (cli_parse_time("since", since, &from) != EXIT_DONE)
            return EXIT_WRONG;
        (void)json_object_set_new(request, "since", json_string(rfc3339_format(from, time)));
    }
    for (size_t i = OPT_VM; i <= OPT_KIND; i++) {
        const char *value = args_value(args, i, NULL);

        if (value && i == OPT_KIND && !(value = kind_word(value, a)))
            return EXIT_WRONG;
        if (value)
            (void)json_object_set_new(request, options[i].name, json_string(value));
    }
    (void)json_object_set_new(request, "limit", json_integer(since ? BATCH : (json_int_t)n));
    return EXIT_DONE;
}

/* Reads batch after batch, up to the newest event. */
static enum exit_code show_all(json_t *request, bool whole, struct showing *s)
{
    enum exit_code code = EXIT_DONE;

    do {
        json_t *reply = NULL;

        code = client_call(s->args->socket, json_incref(request), &reply);
        if (code != EXIT_DONE)
            break;
        show(s, reply);
        json_decref(reply);
        (void)json_object_set_new(request, "after", json_integer(s->last));
    } while (whole && s->n == BATCH);
    if (code == EXIT_DONE && s->json)
        strbuf_puts(s->out, s->any ? "\n]\n" : "[]\n");
    else if (code == EXIT_DONE && !s->any)
        cli_put_none(s->args, "event", "no event yet", s->out);
    return code;
}

static enum exit_code verb_events_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    bool follow = args->options[OPT_FOLLOW].n > 0;
    struct showing s = {.args = args, .json = args->json, .lines = follow, .out = out};
    json_t *request = json_pack("{s:s}", "command", "events");
    enum exit_code code = read_request(args, a, request);

    if (code == EXIT_DONE && follow) {
        (void)json_object_set_new(request, "follow", json_true());
        return client_stream(args->socket, request, show_now, &s);
    }
    if (code == EXIT_DONE)
        code = show_all(request, args_value(args, OPT_SINCE, NULL) != NULL, &s);
    if (code == EXIT_DONE)
        cli_put_more(args, (long long)s.earlier, "earlier event", "--limit, --since", out);
    json_decref(request);
    return code;
}

const struct verb verb_events = {
    .name = "events",
    .summary = "Show events: recommendations, actions, hosts and faults, newest last.",
    .more =
        "--kind host shows states of hosts, hosts that left the inventory or came back, wakes that failed, "
        "and when standby, wakes and maintenance of hosts began and ended (done, failed, cancelled); of "
        "the moves of their VMs, --kind action has them. With --follow and --format json, each line is "
        "one JSON object.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .run = verb_events_run,
};
