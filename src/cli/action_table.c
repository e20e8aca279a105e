/* action_table.c: the table of actions, and the sentence below each row. */
#include "cli/action_table.h"

#include "cli/output.h"
#include "cli/tones.h"
#include "cli/verb.h"
#include "render/reply.h"
#include "render/table.h"

#include <math.h>
#include <string.h>

static const struct column columns[] = {
    {"ID", true},         {"PRIO", true, .word = "priority"},
    {"STATE", false},     {"ACTION", .word = ""},
    ACTION_TABLE_SUBJECT, {"AFTER", true, .word = "imbalance after it"},
    {"", .below = true},
};

const char *action_table_number(const json_t *x, struct arena *a)
{
    long long id = (long long)reply_int(x, "id");
    long long version = (long long)reply_int(x, "version");

    return version > 1 ? arena_printf(a, "%lld.%lld", id, version) : arena_printf(a, "%lld", id);
}

const char *action_table_subject(const json_t *x, struct arena *a)
{
    const char *vm = reply_text(x, "vm_name");
    const char *from = reply_text(x, "from_name");
    const char *to = reply_text(x, "to_name");
    const char *host = reply_text(x, "host_name");

    if (!vm)
        return host ? host : "-";
    return from ? arena_printf(a, "%s: %s -> %s", vm, from, to ? to : "-")
                : arena_printf(a, "%s -> %s", vm, to ? to : "-");
}

/* Whether the action has not started yet. */
static bool has_to_wait(const json_t *x)
{
    const char *state = reply_text(x, "state");

    return state && (strcmp(state, "recommended") == 0 || strcmp(state, "approved") == 0);
}

/* "Group 2. Once 3, 4 are done: ", in front of the reason. */
static const char *conditions(const json_t *x, struct arena *a)
{
    const json_t *needs = json_object_get(x, "depends_on");
    const char *text = "";
    const json_t *id;
    size_t i;

    if (reply_int(x, "group") > 0)
        text = arena_printf(a, "Group %lld. ", (long long)reply_int(x, "group"));
    json_array_foreach(needs, i, id) text =
        arena_printf(a, "%s%s%lld", text, i > 0 ? ", " : "Once ", (long long)json_integer_value(id));
    return i == 0 ? text : arena_printf(a, "%s %s done: ", text, i > 1 ? "are" : "is");
}

/* The most important reason: of a failure or a wait, else of the recommendation. */
static const char *why(const json_t *x, struct arena *a)
{
    const char *last = reply_text(x, "why");
    const char *state = reply_text(x, "state");
    const char *text = reply_text(x, "text");

    if (!text)
        text = reply_text(x, "reason");
    if (last && state && strcmp(state, "recommended") == 0) /* waits for a second person */
        return arena_printf(a, "%s. %s%s", last, conditions(x, a), text ? text : "");
    if (last)
        return last;
    return has_to_wait(x) ? arena_printf(a, "%s%s", conditions(x, a), text ? text : "") : text;
}

void action_table_print_begun(const json_t *reply, const char *nothing, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "actions");

    if (json_array_size(list) > 0)
        action_table_print(reply, list, a, out);
    else
        strbuf_printf(out, "nothing to do%s\n", nothing);
}

/* Names of VMs in a note; more are counted. */
#define VMS_LISTED 3

static const char *some_of(const json_t *list, struct arena *a)
{
    const size_t n = json_array_size(list);
    const char *names = "";

    for (size_t i = 0; i < n && i < VMS_LISTED; i++)
        names =
            arena_printf(a, "%s%s%s", names, i > 0 ? ", " : "", json_string_value(json_array_get(list, i)));
    return n > VMS_LISTED ? arena_printf(a, "%s and %zu more", names, n - VMS_LISTED) : names;
}

void action_table_print_leaving(const json_t *reply, const char *undo, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "leaving_vms");
    const json_t *first = json_array_get(json_object_get(reply, "actions"), 0);
    const size_t n = json_array_size(list);

    if (n == 0)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out,
                      arena_printf(a,
                                   "%zu VM%s moved away first (%s). This command approves %s, which `ballast "
                                   "recommendations` lists once a pass has found where to. `ballast %s %s` "
                                   "undoes it.",
                                   n, n == 1 ? " is" : "s are", some_of(list, a),
                                   n == 1 ? "this move" : "these moves", undo,
                                   action_table_subject(first, a)),
                      0);
}

void action_table_print_off_vms(const json_t *reply, const char *what, struct arena *a, struct strbuf *out)
{
    const json_t *list = json_object_get(reply, "off_vms");
    const size_t n = json_array_size(list);

    if (n == 0)
        return;
    strbuf_puts(out, "\n");
    table_put_wrapped(out,
                      arena_printf(a, "Note: %zu VM%s registered on the host, but %s not run (%s). %s", n,
                                   n == 1 ? " is" : "s are", n == 1 ? "does" : "do", some_of(list, a), what),
                      0);
}

void action_table_put_subject(struct table *t, const json_t *action)
{
    const char *from = reply_text(action, "from_name");
    const char *to = reply_text(action, "to_name");

    table_cell(t, reply_text(action, "vm_name"));
    table_cell(t, from);
    table_cell(t, from ? "->" : "");
    table_cell(t, to ? to : reply_text(action, "host_name"));
}

void action_table_print(const json_t *reply, const json_t *list, struct arena *a, struct strbuf *out)
{
    struct table t = table_of(a, columns, COUNT_OF(columns));
    const json_t *x;
    size_t i;

    t.colours = cli_colours();
    t.domain = reply_text(reply, "host_domain");
    json_array_foreach(list, i, x)
    {
        table_cell(&t, action_table_number(x, a));
        table_cellf(&t, "%lld", (long long)reply_int(x, "priority"));
        table_cell(&t, reply_text(x, "state"));
        table_tone(&t, tone_of_state(reply_text(x, "state")));
        table_cell(&t, reply_text(x, "action"));
        action_table_put_subject(&t, x);
        double after = reply_number(x, "imbalance_after");
        table_cell(&t, isfinite(after) ? arena_printf(a, "%.4f", after) : NULL);
        table_cell(&t, why(x, a));
    }
    table_render(&t, "", out);
}

const char *action_table_waiting(const json_t *balance, struct arena *a)
{
    const char *changes = reply_text(balance, "changes");

    if (!json_is_object(balance) || json_is_true(json_object_get(balance, "open")))
        return NULL;
    return arena_printf(a, "optional moves wait until %s (balance.windows); ballast apply does not wait",
                        changes ? changes : "the configuration changes");
}
