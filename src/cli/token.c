/* ballast token: makes, lists and revokes the tokens of the API over HTTP. */
#include "cli/client.h"
#include "cli/verbs.h"
#include "render/table.h"

#include "base/rfc3339.h"
#include "schedule/span.h"

#include <string.h>
#include <time.h>

enum { OPT_SOCKET, OPT_FORMAT, OPT_ROLE, OPT_OWNER, OPT_EXPIRES, OPT_COUNT };

static const struct option_spec options[OPT_COUNT] = {
    [OPT_SOCKET] = OPTION_SOCKET,
    [OPT_FORMAT] = OPTION_FORMAT,
    [OPT_ROLE] = {"role", "viewer|operator|admin", 0, "create: what the token allows"},
    [OPT_OWNER] = {"owner", "NAME", 0, "create: the person who uses it, as `id -un` prints the name"},
    [OPT_EXPIRES] = {"expires", "SPAN", 0,
                     "create: how long it is valid, such as 90d; default: until revoked"},
};

static void show_tokens(const json_t *reply, struct arena *a, struct strbuf *out)
{
    static const struct column columns[] = {{"NAME", false},      {"ROLE", false},
                                            {"OWNER", false},     {"EXPIRES", false},
                                            {"LAST USED", false}, {"CREATED BY", .below = true}};
    static const char *const members[] = {"name", "role", "owner", "expires", "used", "created_by"};
    const json_t *t;
    struct table table = table_of(a, columns, COUNT_OF(columns));
    size_t i;

    if (json_array_size(json_object_get(reply, "tokens")) == 0) {
        strbuf_puts(out, "no tokens\n");
        return;
    }
    json_array_foreach(json_object_get(reply, "tokens"), i, t)
    {
        for (size_t k = 0; k < COUNT_OF(columns); k++) {
            const char *text = reply_text(t, members[k]);

            table_cell(&table, text ? text : strcmp(members[k], "owner") == 0 ? "-" : "never");
        }
    }
    table_render(&table, "", out);
}

static void show_created(const json_t *reply, struct arena *a, struct strbuf *out)
{
    const char *token = reply_text(reply, "token");

    (void)a;
    strbuf_printf(out, "%s\n", token ? token : "-");
}

static void show_revoked(const json_t *reply, struct arena *a, struct strbuf *out)
{
    (void)reply, (void)a;
    strbuf_puts(out, "revoked: requests with this token are refused from now on\n");
}

static enum exit_code make_create(const struct args *args, json_t **ret)
{
    const char *span = args_value(args, OPT_EXPIRES, NULL);
    const char *role = args_value(args, OPT_ROLE, NULL);
    const char *owner = args_value(args, OPT_OWNER, NULL);
    char expires[RFC3339_MAX];
    struct err err;
    int64_t s = 0;

    if (!role)
        return cli_fail(EXIT_WRONG, "--role: missing, expected viewer, operator or admin");
    if (span && span_parse(span, &s, &err) < 0)
        return cli_fail(EXIT_WRONG, "--expires: %s", err.text);
    *ret = json_pack("{s:s, s:s, s:s}", "command", "token_create", "name", args->operands[1], "role", role);
    if (owner)
        (void)json_object_set_new(*ret, "owner", json_string(owner));
    if (span)
        (void)json_object_set_new(*ret, "expires",
                                  json_string(rfc3339_format((instant_s)time(NULL) + s, expires)));
    return EXIT_DONE;
}

static enum exit_code verb_token_run(const struct args *args, struct arena *a, struct strbuf *out)
{
    const char *what = args->operands[0];
    const bool create = strcmp(what, "create") == 0;
    json_t *request = NULL;

    if (!create &&
        (args->options[OPT_ROLE].n > 0 || args->options[OPT_OWNER].n > 0 || args->options[OPT_EXPIRES].n > 0))
        return cli_fail(EXIT_WRONG,
                        "--role, --owner and --expires: expected with `ballast token create` only");
    if (strcmp(what, "list") == 0 && args->n_operands == 1)
        return client_show(args, json_pack("{s:s}", "command", "tokens"), "tokens", show_tokens, a, out);
    if (strcmp(what, "revoke") == 0 && args->n_operands == 2)
        return client_show(args,
                           json_pack("{s:s, s:s}", "command", "token_revoke", "name", args->operands[1]),
                           NULL, show_revoked, a, out);
    if (!create || args->n_operands != 2)
        return cli_fail(EXIT_WRONG, "ballast token: expected create NAME, list, or revoke NAME");
    enum exit_code code = make_create(args, &request);
    return code == EXIT_DONE ? client_show(args, request, NULL, show_created, a, out) : code;
}

const struct verb verb_token = {
    .name = "token",
    .summary = "Make, list and revoke tokens of the API over HTTP.",
    .more =
        "`create` prints the token, once: the service keeps only its hash. Give it to the program that uses "
        "the "
        "API (header Authorization: Bearer TOKEN), or enter it on the service's page. What is done with it "
        "is "
        "recorded under its name. Where the configuration asks for two people (four_eyes), tokens of one "
        "owner "
        "are one person, and a token without an owner is none. A viewer sees everything but snapshots and "
        "consoles, an operator approves, "
        "pauses and changes the state of hosts, an admin does everything.",
    .operands = "create NAME|list|revoke NAME",
    .operands_min = 1,
    .operands_max = 2,
    .options = options,
    .n_options = OPT_COUNT,
    .needs_service = true,
    .run = verb_token_run,
};
