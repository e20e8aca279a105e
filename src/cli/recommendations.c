/* ballast recommendations: what waits for a person, then what is carried out, then what ended within the last
 * hour. */
#include "cli/action_table.h"
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include <ballast/names.h>

#include <string.h>

#define AVOIDED_SHOWN_MAX 20

static void show_avoided(const json_t *avoid, struct strbuf *out)
{
    size_t n = json_array_size(avoid);

    if (n > 0)
        strbuf_puts(out, "\nfailed, and not tried again yet (`ballast run --retry` tries at once):\n");
    for (size_t i = 0; i < n && i < AVOIDED_SHOWN_MAX; i++) {
        strbuf_puts(out, " ");
        table_put_hanging(out, reply_or_dash(json_array_get(avoid, i), "text"), 1, 4);
    }
    if (n > AVOIDED_SHOWN_MAX)
        strbuf_printf(out, "  and %zu more\n", n - AVOIDED_SHOWN_MAX);
}

enum turn { WAITS, RUNS, ENDED, turn_count };

static enum turn turn_of(enum action_state state)
{
    /* the order of ACTION_STATES */
    return state == ACTION_RECOMMENDED ? WAITS : state <= ACTION_VERIFYING ? RUNS : ENDED;
}

/* Of the list, those of this state (NULL: of any), by whose turn it is. *ret_ended: how many of the end of
 * the new array have ended. */
static json_t *sort_by_turn(const json_t *list, const char *wanted, size_t *ret_ended)
{
    json_t *sorted = json_array();

    for (int turn = WAITS; turn < turn_count; turn++) {
        size_t before = json_array_size(sorted);

        for (size_t i = 0; i < json_array_size(list); i++) {
            json_t *x = json_array_get(list, i);
            const char *word = reply_or_dash(x, "state");
            enum action_state state;

            if (action_state_parse(word, &state) < 0)
                state = ACTION_RECOMMENDED; /* of a newer service: it is shown */
            if ((int)turn_of(state) == turn && (!wanted || strcmp(word, wanted) == 0))
                (void)json_array_append(sorted, x);
        }
        *ret_ended = json_array_size(sorted) - before;
    }
    return sorted;
}

static void show(const struct args *args, const json_t *reply, json_t *sorted, size_t hidden, struct arena *a,
                 struct strbuf *out)
{
    for (size_t i = 0; i < hidden; i++)
        (void)json_array_remove(sorted, json_array_size(sorted) - 1);
    if (json_array_size(sorted) == 0)
        cli_put_none(args, "recommendation", "no recommendations", out);
    else
        action_table_print(reply, sorted, a, out);
    if (hidden > 0)
        strbuf_printf(out, "%zu ended within the last hour (--all)\n", hidden);
    const char *waiting = action_table_waiting(json_object_get(reply, "balance"), a);
    if (waiting)
        table_put_wrapped(out, waiting, 0);
    show_avoided(json_object_get(reply, "avoid"), out);
}

enum { OPT_SOCKET, OPT_VM, OPT_HOST, OPT_STATE, OPT_ALL, OPT_FORMAT };

static const struct option_spec options[] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_VM] = {"vm", "VM", 0, "only those about this VM: its name or id"},
    [OPT_HOST] = {"host", "HOST", 0, "only those about this host, moves from it and to it included"},
    [OPT_STATE] = {"state", "STATE", 0, "only those in this state, as the column STATE shows it"},
    [OPT_ALL] = {"all", NULL, 0, "list those that ended within the last hour, too; JSON always has them"},
    [OPT_FORMAT] = OPTION_FORMAT,
};

#define STATE_LISTED(e, word, meaning) " " word

static enum exit_code verb_recommendations_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *vm = args_value(args, OPT_VM, NULL);
    const char *host = args_value(args, OPT_HOST, NULL);
    const char *state = args_value(args, OPT_STATE, NULL);
    json_t *reply = NULL;
    enum action_state known;
    size_t ended;

    if (state && action_state_parse(state, &known) < 0)
        return cli_fail(EXIT_WRONG,
                        "--state: \"%s\" is not known, expected one of" ACTION_STATES(STATE_LISTED), state);
    enum exit_code code = client_call(
        args->socket, json_pack("{s:s, s:s*, s:s*}", "command", "recommendations", "vm", vm, "host", host),
        &reply);

    if (code != EXIT_DONE)
        return code;
    const json_t *list = json_object_get(reply, "recommendations");
    json_t *sorted = sort_by_turn(list, state, &ended);

    if (args->json)
        reply_dump(state ? sorted : list, out);
    else
        show(args, reply, sorted, state || args->options[OPT_ALL].n > 0 ? 0 : ended, a, out);
    json_decref(sorted);
    json_decref(reply);
    return EXIT_DONE;
}

const struct verb verb_recommendations = {
    .name = "recommendations",
    .summary = "List the current recommendations, what is carried out, and what ended.",
    .more = "`ballast apply ID` approves one; an ID is never used twice. PRIO: 1 is mandatory, 5 a "
            "slight improvement. AFTER: the imbalance once this action and those before it are done. "
            "The states are listed in names.md. ballast-concepts(7) defines the terms.",
    .options = options,
    .n_options = COUNT_OF(options),
    .needs_service = true,
    .can_watch = true,
    .run = verb_recommendations_run,
};
