/* decide.c: has a question about a snapshot answered, here or by the service, and prints the answer. */
#include "cli/decide.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "cli/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {
    [DECISION_PLAN] = "plan",
    [DECISION_EXPLAIN] = "explain",
    [DECISION_WHAT_IF] = "what_if",
    [DECISION_ENTITLEMENTS] = "entitlements",
};

/* ---- here ------------------------------------------------------------------------------------ */

/* Names the option that the field of a request is. */
static void print_error(const char *verb, const char *field, const struct err *err, struct arena *a)
{
    if (!field) {
        cli_error("ballast %s: %s", verb, err->text);
        return;
    }
    char *option = arena_strdup(a, field);

    for (char *at = option; *at; at++)
        *at = *at == '_' ? '-' : *at;
    cli_error("--%s: %s", option, err->text);
}

static enum exit_code decide_here(const struct args *args, const struct cluster_paths *paths,
                                  const struct decision_question *question, struct arena *a,
                                  struct strbuf *out)
{
    const struct decision_output output = {.json = args->json ? out : NULL, .text = args->json ? NULL : out};
    const char *field = NULL;
    struct policy policy;
    struct snapshot snap;
    struct err err = {0};
    enum exit_code code = cli_read_cluster(args, paths, a, &policy, &snap);

    if (code != EXIT_DONE)
        return code;
    int r = decision_answer(question, &snap, &policy, a, &output, &field, &err);

    if (r == 0)
        return EXIT_DONE;
    print_error(args->verb->name, field, &err, a);
    return r == -EINVAL ? EXIT_WRONG : EXIT_FAILED;
}

/* ---- by the service -------------------------------------------------------------------------- */

/* A text that is not UTF-8 is no name at any source. */
static enum exit_code put_text(json_t *request, const char *field, const char *text)
{
    if (!text || json_object_set_new(request, field, json_string(text)) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "--%s: \"%s\" is not UTF-8", field, text);
}

/* "KEY=VALUE" as a member. The last one counts, as it does here. */
static void put_sets(json_t *request, const struct decision_question *question, struct arena *a)
{
    json_t *set = json_object();

    for (size_t i = 0; i < question->n_sets; i++) {
        const char *equals = strchr(question->sets[i], '='); /* it is there: the settings were checked */
        const char *key = arena_strndup(a, question->sets[i], (size_t)(equals - question->sets[i]));

        (void)json_object_set_new(set, key, json_string(equals + 1));
    }
    (void)json_object_set_new(request, "set", set);
}

static enum exit_code put_demand(json_t *request, const char *text, struct arena *a)
{
    const char *equals = strrchr(text, '=');
    json_t *demand = json_object_get(request, "demand");
    double mhz;

    if (!equals)
        return cli_fail(EXIT_WRONG, "--demand: \"%s\" has no =, expected VM=MHZ", text);
    if (!number_parse(equals + 1, &mhz))
        return cli_fail(EXIT_WRONG, "--demand: \"%s\" is not a number, expected MHz, 0 or more", equals + 1);
    if (!demand)
        (void)json_object_set_new(request, "demand", demand = json_object());
    const char *vm = arena_strndup(a, text, (size_t)(equals - text));

    if (json_object_get(demand, vm))
        return cli_fail(EXIT_WRONG, "--demand: \"%s\" is given twice", vm);
    if (*vm != '\0' && json_object_set_new(demand, vm, json_real(mhz)) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "--demand: \"%s\" is not the id or the name of a VM", vm);
}

static enum exit_code put_change(json_t *request, const struct decision_change *c, struct arena *a)
{
    const char *field = change_kind_name(c->kind);
    json_t *list = json_object_get(request, field);

    if (c->kind == CHANGE_DEMAND)
        return put_demand(request, c->word, a);
    if (!list)
        (void)json_object_set_new(request, field, list = json_array());
    if (*c->word != '\0' && json_array_append_new(list, json_string(c->word)) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "ballast what-if: \"%s\" is not the id or the name of a host", c->word);
}

static enum exit_code make_request(const struct decision_question *q, json_t *request, struct arena *a)
{
    enum exit_code code;

    if ((code = put_text(request, "vm", q->vm)) != EXIT_DONE ||
        (code = put_text(request, "host", q->host)) != EXIT_DONE)
        return code;
    if (q->n_sets > 0)
        put_sets(request, q, a);
    for (size_t i = 0; i < q->n_changes; i++) {
        if ((code = put_change(request, &q->changes[i], a)) != EXIT_DONE)
            return code;
    }
    if (q->kind != DECISION_ENTITLEMENTS)
        return EXIT_DONE;
    if (q->wide)
        (void)json_object_set_new(request, "wide", json_true());
    if (!q->resources[RES_CPU] || !q->resources[RES_MEM])
        (void)json_object_set_new(request, "resource", json_string(q->resources[RES_CPU] ? "cpu" : "mem"));
    return EXIT_DONE;
}

/* Settings are checked first, so that a mistake costs no decision. */
static enum exit_code check_sets(const struct decision_question *question, struct arena *a)
{
    struct policy policy;
    struct err err = {0};

    policy_default(&policy);
    if (decision_change_settings(question->sets, question->n_sets, a, &policy, NULL, &err) == 0)
        return EXIT_DONE;
    return cli_fail(EXIT_WRONG, "--set: %s", err.text);
}

static enum exit_code decide_there(const struct args *args, const struct decision_question *question,
                                   unsigned long long pass, struct arena *a, struct strbuf *out)
{
    const char *command = commands[question->kind];
    CLEANUP(json_decrefp) json_t *request = json_pack("{s:s}", "command", command);
    CLEANUP(json_decrefp) json_t *reply = NULL;
    const json_t *warning;
    enum exit_code code;
    size_t i;

    if (pass > 0)
        (void)json_object_set_new(request, "pass", json_integer((json_int_t)pass));
    if ((code = check_sets(question, a)) != EXIT_DONE ||
        (code = make_request(question, request, a)) != EXIT_DONE ||
        (code = client_call(args->socket, json_incref(request), &reply)) != EXIT_DONE)
        return code;
    json_array_foreach(json_object_get(reply, "warnings"), i, warning)
        cli_error("warning: --set: %s", json_string_value(warning));
    const char *answer = reply_text(reply, args->json ? command : "text");

    strbuf_puts(out, answer ? answer : "");
    return EXIT_DONE;
}

enum exit_code cli_decide(const struct args *args, const struct cluster_paths *paths,
                          const struct decision_question *question, unsigned long long pass, struct arena *a,
                          struct strbuf *out)
{
    struct decision_question whole = *question;

    whole.sets = paths->sets->items;
    whole.n_sets = paths->sets->n;
    whole.configured = paths->config != NULL;
    return paths->snapshot || paths->config ? decide_here(args, paths, &whole, a, out)
                                            : decide_there(args, &whole, pass, a, out);
}
