/* selection.c: numbers, ranges and options of `apply` and `reject`, as a list of recommendation numbers. */
#include "cli/selection.h"

#include "base/cleanup.h"
#include "cli/action_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    long long first, last;
};

struct selection {
    const char *command;
    const json_t *reply; /* its answer; NULL likewise */
    const json_t *list;  /* the service's recommendations; NULL: not needed */
    const char *host;    /* NULL: any, like the next two */
    const struct range *group;
    const struct range *priority;
};

/* "3", or "3-9" with the given separator; "": no range. */
static bool parse_range(const char *text, const char *separator, struct range *ret)
{
    char *end;

    errno = 0;
    ret->first = ret->last = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *text == '-')
        return false;
    if (*separator && strncmp(end, separator, strlen(separator)) == 0) {
        text = end + strlen(separator);
        ret->last = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *text == '-')
            return false;
    }
    return *end == '\0' && ret->first > 0 && ret->last >= ret->first;
}

/* "3.2": a recommendation's number and version. */
static bool is_version(const char *text)
{
    size_t number = strspn(text, "0123456789");
    size_t version = text[number] == '.' ? strspn(text + number + 1, "0123456789") : 0;

    return number > 0 && version > 0 && text[number + 1 + version] == '\0';
}

static bool is_in(const struct range *r, long long n)
{
    return n >= r->first && n <= r->last;
}

static bool names(const json_t *x, const char *id_key, const char *name_key, const char *word)
{
    const char *id = reply_text(x, id_key);
    const char *name = reply_text(x, name_key);

    return (id && strcmp(id, word) == 0) || (name && strcmp(name, word) == 0);
}

/* An approval can be taken back by `reject` until the action starts. */
static bool is_open(const struct selection *s, const json_t *x)
{
    const char *state = reply_text(x, "state");

    return state && (strcmp(state, "recommended") == 0 ||
                     (strcmp(state, "approved") == 0 && strcmp(s->command, "reject") == 0));
}

static bool matches(const struct selection *s, const json_t *x)
{
    if (s->host && !names(x, "from", "from_name", s->host) && !names(x, "to", "to_name", s->host) &&
        !names(x, "host", "host_name", s->host))
        return false;
    return (!s->group || is_in(s->group, reply_int(x, "group"))) &&
           (!s->priority || is_in(s->priority, reply_int(x, "priority")));
}

/* ---- what is selected ------------------------------------------------------------------------ */

static bool depends_on(const json_t *x, json_int_t id)
{
    const json_t *need;
    size_t i;

    json_array_foreach(json_object_get(x, "depends_on"), i, need)
    {
        if (json_integer_value(need) == id)
            return true;
    }
    return false;
}

static bool same_group(const json_t *x, const json_t *y)
{
    json_int_t group = reply_int(x, "group");
    const char *action = reply_text(x, "action");

    if (action && strcmp(action, "power_on") == 0) /* a wake is of use without the rest */
        return false;
    return group != 0 && group == reply_int(y, "group") && reply_int(x, "pass") == reply_int(y, "pass");
}

/* Adds what a selected recommendation depends on, and the rest of its group, until nothing is missing. */
static void complete(const struct selection *s, bool *chosen, size_t n)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            const json_t *x = json_array_get(s->list, i);

            for (size_t k = 0; chosen[i] && k < n; k++) {
                const json_t *y = json_array_get(s->list, k);

                if (chosen[k] || !is_open(s, y) || !(depends_on(x, reply_int(y, "id")) || same_group(x, y)))
                    continue;
                chosen[k] = changed = true;
            }
        }
    } while (changed);
}

/* The recommendation at its present version, as the service takes it. */
static void add_id(const json_t *x, struct arena *a, json_t *ids)
{
    (void)json_array_append_new(ids, reply_int(x, "version") > 1 ? json_string(action_table_number(x, a))
                                                                 : json_incref(json_object_get(x, "id")));
}

static void add_chosen(const struct selection *s, struct arena *a, json_t *ids)
{
    size_t n = json_array_size(s->list);
    bool *chosen = arena_array(a, bool, n);

    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(s->list, i);

        chosen[i] = is_open(s, x) && matches(s, x);
    }
    if (strcmp(s->command, "apply") == 0) /* the service rejects what depends on a rejected one */
        complete(s, chosen, n);
    for (size_t i = 0; i < n; i++) {
        if (chosen[i])
            add_id(json_array_get(s->list, i), a, ids);
    }
}

/* Of a range, what is rejected already is sent, too: the service names it, or changes for how long it is. */
static bool is_meant(const struct selection *s, const json_t *x, const struct range *r)
{
    const char *state = reply_text(x, "state");

    return is_in(r, reply_int(x, "id")) &&
           (is_open(s, x) || (strcmp(s->command, "reject") == 0 && state && strcmp(state, "rejected") == 0));
}

/* A number is sent as it is, so that the service says what is wrong with it. */
static enum exit_code add_operand(const struct selection *s, const char *text, struct arena *a, json_t *ids)
{
    struct range r;
    size_t before = json_array_size(ids);

    if (is_version(text)) {
        (void)json_array_append_new(ids, json_string(text));
        return EXIT_DONE;
    }
    if (!parse_range(text, "-", &r))
        return cli_fail(
            EXIT_WRONG,
            "ballast %s: \"%s\" is not the number of a recommendation such as 3 or 3.2, nor a range such "
            "as 3-9",
            s->command, text);
    if (r.first == r.last) {
        (void)json_array_append_new(ids, json_integer(r.first));
        return EXIT_DONE;
    }
    for (size_t i = 0; i < json_array_size(s->list); i++) {
        const json_t *x = json_array_get(s->list, i);

        if (is_meant(s, x, &r))
            add_id(x, a, ids);
    }
    if (json_array_size(ids) > before)
        return EXIT_DONE;
    return cli_fail(
        EXIT_FAILED,
        "ballast %s: there is no current recommendation with a number in %s; `ballast recommendations` "
        "lists them",
        s->command, text);
}

/* ---- the command line ------------------------------------------------------------------------ */

static enum exit_code parse_option(const struct args *args, size_t option, const char *separator,
                                   struct range *range, const struct range **ret)
{
    const char *text = args_value(args, option, NULL);

    *ret = NULL;
    if (!text)
        return EXIT_DONE;
    *ret = range;
    if (parse_range(text, separator, range))
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "--%s: \"%s\" is wrong, expected %s",
                    option == SELECT_PRIORITY ? "priority" : "group", text,
                    option == SELECT_PRIORITY ? "a priority such as 1, or a range such as 1..2"
                                              : "the number of a group");
}

static enum exit_code check_form(const struct args *args, const char *command)
{
    bool all = args->options[SELECT_ALL].n > 0;
    bool some = false;

    for (size_t i = SELECT_HOST; i <= SELECT_PRIORITY; i++)
        some = some || args->options[i].n > 0;
    if (args->n_operands == 0 && !all && !some)
        cli_error("ballast %s: ID... (or --all, --host, --group, --priority) is missing, see ballast %s "
                  "--help",
                  command, command);
    else if ((args->n_operands > 0) + all + some > 1)
        cli_error("ballast %s: give numbers, or --all, or --host, --group and --priority", command);
    else
        return EXIT_DONE;
    return EXIT_WRONG;
}

static bool needs_list(const struct args *args)
{
    struct range r;

    for (size_t i = 0; i < args->n_operands; i++) {
        if (parse_range(args->operands[i], "-", &r) && r.first < r.last)
            return true;
    }
    return args->n_operands == 0;
}

/* Nothing was found for --host: because there is no such host, which the service says, or no recommendation
 * for it. */
static enum exit_code refuse_host(const struct selection *s, const char *socket)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    enum exit_code code = client_call(
        socket, json_pack("{s:s, s:s, s:i}", "command", "history", "host", s->host, "limit", 1), &reply);

    if (code != EXIT_DONE)
        return code;
    return cli_fail(
        EXIT_FAILED,
        "ballast %s: there is no such recommendation for host %s; `ballast recommendations` lists all",
        s->command, s->host);
}

static enum exit_code select_ids(const struct args *args, struct selection *s, struct arena *a, json_t *ids)
{
    enum exit_code code = EXIT_DONE;

    for (size_t i = 0; code == EXIT_DONE && i < args->n_operands; i++)
        code = add_operand(s, args->operands[i], a, ids);
    if (code != EXIT_DONE || args->n_operands > 0)
        return code;
    add_chosen(s, a, ids);
    if (json_array_size(ids) > 0)
        return EXIT_DONE;
    if (s->host)
        return refuse_host(s, args->socket);
    return cli_fail(EXIT_FAILED,
                    "ballast %s: there is no %s recommendation; `ballast recommendations` lists them",
                    s->command, args->options[SELECT_ALL].n > 0 ? "current" : "such");
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool is_selected(const json_t *x, const json_t *ids, struct arena *a)
{
    const char *number = action_table_number(x, a);
    const json_t *id;
    size_t i;

    json_array_foreach(ids, i, id)
    {
        if (json_is_integer(id) ? reply_int(x, "version") <= 1 && reply_int(x, "id") == json_integer_value(id)
                                : strcmp(number, json_string_value(id)) == 0)
            return true;
    }
    return false;
}

/* Shows the selected ones on the terminal and asks. What is typed number by number is not asked for. */
static bool confirmed(const struct selection *s, const json_t *ids, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf shown = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *chosen = json_array();
    json_t *x;
    size_t i;

    if (!cli_can_ask())
        return true;
    json_array_foreach(s->list, i, x)
    {
        if (is_selected(x, ids, a))
            (void)json_array_append(chosen, x);
    }
    action_table_print(s->reply, chosen, a, &shown);
    (void)fprintf(stderr, "%s\n", shown.text);
    if (cli_asked(json_array_size(ids) == 1 ? "Approve it"
                                            : arena_printf(a, "Approve these %zu", json_array_size(ids))))
        return true;
    cli_error("ballast %s: not confirmed, nothing was approved", s->command);
    return false;
}

/* Prints those that were decided on, and says of each of the others why it was not. */
static enum exit_code tell(const struct args *args, json_t *request, struct arena *a, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    enum exit_code code = client_call(args->socket, request, &reply);
    const json_t *rest = json_object_get(reply, "left_out");
    const json_t *x;
    size_t i;

    if (code != EXIT_DONE)
        return code;
    if (args->json)
        reply_dump(json_object_get(reply, "actions"), out);
    else
        action_table_print(reply, json_object_get(reply, "actions"), a, out);
    json_array_foreach(rest, i, x) cli_error("ballast: left out: %s", reply_text(x, "why"));
    if (i == 0)
        return EXIT_DONE;
    if (i > 1)
        cli_error("ballast: %zu are left out", i);
    code = cli_write(out); /* here: with this exit code, too, it is the answer */
    return code == EXIT_DONE ? EXIT_FAILED : code;
}

enum exit_code selection_tell(const struct args *args, const char *command, struct arena *a,
                              struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *reply = NULL;
    CLEANUP(json_decrefp) json_t *ids = json_array();
    struct selection s = {.command = command, .host = args_value(args, SELECT_HOST, NULL)};
    struct range group, priority;
    enum exit_code code;

    if ((code = check_form(args, command)) != EXIT_DONE ||
        (code = parse_option(args, SELECT_GROUP, "", &group, &s.group)) != EXIT_DONE ||
        (code = parse_option(args, SELECT_PRIORITY, "..", &priority, &s.priority)) != EXIT_DONE)
        return code;
    if (needs_list(args) &&
        (code = client_call(args->socket, json_pack("{s:s}", "command", "recommendations"), &reply)) !=
            EXIT_DONE)
        return code;
    s.reply = reply;
    s.list = json_object_get(reply, "recommendations");
    if ((code = select_ids(args, &s, a, ids)) != EXIT_DONE)
        return code;
    const bool rejects = strcmp(command, "reject") == 0;
    const char *for_how_long = rejects ? args_value(args, SELECT_LAST, NULL) : NULL;

    if (reply && !rejects && args->options[SELECT_LAST].n == 0 && !confirmed(&s, ids, a))
        return EXIT_FAILED;
    json_t *request = json_pack("{s:s, s:O}", "command", command, "ids", ids);

    if (for_how_long)
        (void)json_object_set_new(request, "for", json_string(for_how_long));
    if (rejects && needs_list(args))
        (void)json_object_set_new(request, "selected", json_true());
    return tell(args, request, a, out);
}
