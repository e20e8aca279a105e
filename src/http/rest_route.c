/* rest_route.c: oVirt's REST API over HTTP: elements from the service's replies, and requests from elements.
 *
 * HTTP's threads translate only (rest/); what changes something is the main thread's, by the same requests as
 * everywhere. A reply that a path needs is taken as published, or asked for, one after another. */
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/uuid.h"
#include "base/xalloc.h"
#include "http/form.h"
#include "http/header.h"
#include "http/rest/body.h"
#include "http/rest/resources.h"
#include "http/rest/search.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST 2 /* the segments of REST_ROOT */
#define MAX_DEFAULT 10000

static const char *segment(const struct http_call *c, size_t i)
{
    return FIRST + i < c->target.n_segments ? c->target.segments[FIRST + i] : "";
}

static size_t n_segments(const struct http_call *c)
{
    return c->target.n_segments - FIRST;
}

static enum rest_format format_of(const struct http_call *c, const char *name)
{
    const char *types = exchange_header(c, name);
    const char *json = types ? strstr(types, "json") : NULL;
    const char *xml = types ? strstr(types, "xml") : NULL;

    return json && (!xml || json < xml) ? REST_JSON : REST_XML;
}

static unsigned version_of(const struct http_call *c)
{
    const char *version = exchange_header(c, "Version");

    return version && strcmp(version, "3") == 0 ? 3 : 4;
}

/* ---- answers ----------------------------------------------------------------------------------- */

static enum MHD_Result answer(struct http_call *c, unsigned status, const struct strbuf *out)
{
    const char *async = target_parameter(&c->target, "async");
    const bool later = c->method != HTTP_GET && async && strcmp(async, "true") == 0;

    return answer_text(c, later ? MHD_HTTP_ACCEPTED : status,
                       format_of(c, "Accept") == REST_JSON ? "application/json" : "application/xml",
                       out->text);
}

static enum MHD_Result answer_element(struct http_call *c, unsigned status, enum rest_kind kind,
                                      const json_t *v)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    rest_write(kind, v, format_of(c, "Accept"), version_of(c), &out);
    return answer(c, status, &out);
}

static enum MHD_Result answer_done(struct http_call *c)
{
    CLEANUP(json_decrefp) json_t *action = json_pack("{s: s}", "status", "complete");

    return answer_element(c, MHD_HTTP_OK, REST_ACTION, action);
}

static enum MHD_Result not_found(struct http_call *c)
{
    return answer_text(c, MHD_HTTP_NOT_FOUND, NULL, "");
}

static bool is_action(const struct http_call *c)
{
    return c->method == HTTP_POST && n_segments(c) == 3 &&
           (strcmp(segment(c, 0), "vms") == 0 || strcmp(segment(c, 0), "hosts") == 0);
}

enum MHD_Result rest_route_refuse(struct http_call *c, enum problem p, const char *detail,
                                  const char *challenge)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(json_decrefp)
    json_t *fault = json_pack("{s: s, s: o}", "reason",
                              p == PROBLEM_REQUEST && strstr(detail, "required for") ? "Incomplete parameters"
                                                                                     : "Operation Failed",
                              "detail", json_sprintf("[%s]", detail));
    CLEANUP(json_decrefp) json_t *action = json_pack("{s: s, s: O}", "status", "failed", "fault", fault);

    if (p == PROBLEM_NOT_FOUND)
        return not_found(c);
    rest_write(is_action(c) ? REST_ACTION : REST_FAULT, is_action(c) ? action : fault, format_of(c, "Accept"),
               version_of(c), &out);
    c->challenge = challenge;
    return answer_text(c, problem_status(p),
                       format_of(c, "Accept") == REST_JSON ? "application/json" : "application/xml",
                       out.text);
}

bool rest_route_is_under(const struct target *t)
{
    return t->n_segments > 0 && strcmp(t->segments[0], "ovirt-engine") == 0;
}

/* ---- elements ---------------------------------------------------------------------------------- */

static struct rest_source source_of(const struct http_call *c)
{
    const char *follow = target_parameter(&c->target, "follow");
    const char *all = exchange_header(c, "All-Content");

    return (struct rest_source){.cluster = c->http->cluster,
                                .statistics = follow && strstr(follow, "statistics"),
                                .all = all && strcasecmp(all, "true") == 0,
                                .version = version_of(c)};
}

/* The elements of the collection, those that the search finds. */
static enum MHD_Result answer_list(struct http_call *c, enum rest_kind kind, const json_t *list)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(json_decrefp) json_t *found = json_array();
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;
    const char *text = target_parameter(&c->target, "search");
    const char *max = target_parameter(&c->target, "max");
    const size_t most = max ? strtoul(max, NULL, 10) : MAX_DEFAULT;
    struct rest_search search = {.page = 1};
    struct err err = {0};
    size_t skip;
    size_t i;
    json_t *v;

    if (text && rest_search_parse(text, kind, &a, &search, &err) < 0)
        return answer_problem(c, PROBLEM_REQUEST, "%s", err.text);
    skip = (search.page - 1) * most;
    json_array_foreach(list, i, v)
    {
        if ((text && !rest_search_matches(&search, v)) || (skip > 0 && skip--))
            continue;
        if (json_array_size(found) < most)
            (void)json_array_append(found, v);
    }
    for (i = 0; i < c->target.n_segments; i++)
        strbuf_printf(&path, "/%s", c->target.segments[i]);
    rest_write_list(kind, found, path.text, format_of(c, "Accept"), version_of(c), &out);
    return answer(c, MHD_HTTP_OK, &out);
}

/* The element of the path below a list of them, or what stands below it. */
static enum MHD_Result answer_one(struct http_call *c, enum rest_kind kind, const json_t *list)
{
    const json_t *one = rest_find(list, segment(c, 1));
    const json_t *below = json_object_get(one, segment(c, 2));
    const enum rest_kind inner = rest_kind_of_list(kind, segment(c, 2));

    if (!one)
        return not_found(c);
    if (n_segments(c) == 2)
        return answer_element(c, MHD_HTTP_OK, kind, one);
    if (inner == REST_NONE || n_segments(c) > 4)
        return not_found(c);
    if (n_segments(c) == 3)
        return answer_list(c, inner, below);
    one = rest_find(below, segment(c, 3));
    return one ? answer_element(c, MHD_HTTP_OK, inner, one) : not_found(c);
}

static enum MHD_Result answer_get(struct http_call *c)
{
    struct rest_source source = source_of(c);
    const enum rest_kind kind = rest_kind_of_collection(segment(c, 0));

    source.statistics = source.statistics || strcmp(segment(c, 2), "statistics") == 0;
    source.below = n_segments(c) > 2;
    if (n_segments(c) == 0) {
        CLEANUP(json_decrefp) json_t *api = rest_api();

        return answer_element(c, MHD_HTTP_OK, REST_API, api);
    }
    CLEANUP(json_decrefp) json_t *list = rest_elements(kind, c->shown, &source);

    if (!list)
        return not_found(c);
    return n_segments(c) == 1 ? answer_list(c, kind, list) : answer_one(c, kind, list);
}

/* ---- requests ---------------------------------------------------------------------------------- */

static enum MHD_Result ask(struct http_call *c, json_t *root)
{
    CLEANUP(json_decrefp) json_t *owned = root;
    struct err err;

    free(c->request);
    c->request = xcalloc(1, sizeof *c->request);
    if (request_read(owned, c->request, &err) < 0)
        return answer_problem(c, PROBLEM_REQUEST, "%s", err.text);
    return exchange_ask(c);
}

static bool read_body(struct http_call *c, enum rest_kind kind, json_t **ret, enum MHD_Result *refused)
{
    const char *type = exchange_header(c, "Content-Type");
    struct err err = {0};

    if (c->body_too_large)
        *refused = answer_problem(c, PROBLEM_TOO_LARGE, "the body has more than %zu bytes", c->body_max);
    else if (rest_read(kind, type && strstr(type, "json") ? REST_JSON : REST_XML, version_of(c),
                       c->body.text ? c->body.text : "", c->body.len, ret, &err) < 0)
        *refused = answer_problem(c, PROBLEM_REQUEST, "%s", err.text);
    else
        return true;
    return false;
}

static enum MHD_Result ask_for_change(struct http_call *c)
{
    CLEANUP(strbuf_releasep) struct strbuf path = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *is = NULL;
    const enum rest_kind kind = rest_kind_of_collection(segment(c, 0));
    const bool below = n_segments(c) > 2;
    enum MHD_Result r;

    if (c->method != HTTP_DELETE &&
        !read_body(c, below ? rest_kind_of_list(kind, segment(c, 2)) : kind, &is, &r))
        return r;
    if (kind == REST_CLUSTER && !rest_is_cluster(c->http->cluster, segment(c, 1)))
        return not_found(c);
    for (size_t i = 0; i < n_segments(c); i++)
        strbuf_printf(&path, "%s%s", i > 0 ? "/" : "", segment(c, i));
    c->acted = true;
    return ask(c, json_pack("{s: s, s: s, s: s, s: O*}", "command", request_kind_name(REQUEST_POLICY_CHANGE),
                            "verb", http_method_name(c->method), "path", path.text, "is", is));
}

/* An action on a VM or a host, by the id that the source gave it. */
static enum MHD_Result ask_for_action(struct http_call *c)
{
    const struct rest_source source = source_of(c);
    const enum rest_kind kind = rest_kind_of_collection(segment(c, 0));
    CLEANUP(json_decrefp) json_t *list = rest_elements(kind, c->shown, &source);
    const char *id = rest_own_id_of(rest_find(list, segment(c, 1)));
    const char *what = segment(c, 2);
    CLEANUP(json_decrefp) json_t *action = NULL;
    enum MHD_Result r;

    if (!id)
        return not_found(c);
    if (!read_body(c, REST_ACTION, &action, &r))
        return r;
    if (json_is_true(json_object_get(action, "force")) || json_object_get(action, "vm") ||
        json_object_get(action, "host"))
        return answer_problem(c, PROBLEM_REQUEST,
                              "Cannot %s. A host, a VM's other settings and force cannot be given here: the "
                              "policy chooses the host.",
                              what);
    c->acted = true;
    if (strcmp(what, "start") == 0)
        return ask(c, json_pack("{s: s, s: [s], s: b}", "command", "place", "vms", id, "apply", true));
    if (strcmp(what, "migrate") == 0)
        return ask(c, json_pack("{s: s, s: s, s: b}", "command", "migrate", "vm", id, "apply", true));
    return ask(c, json_pack("{s: s, s: s, s: s}", "command", "maintenance", "host", id, "mode",
                            strcmp(what, "deactivate") == 0 ? "enter" : "exit"));
}

/* What the main thread has made of a change or an action. */
static enum MHD_Result answer_acted(struct http_call *c)
{
    CLEANUP(json_decrefp)
    json_t *reply = json_loadb(shared_text_bytes(c->reply), shared_text_length(c->reply), 0, NULL);
    const json_t *is = json_object_get(reply, "is");
    const enum rest_kind kind = rest_kind_of_element(json_string_value(json_object_get(reply, "element")));
    const struct rest_source source = source_of(c);

    if (json_integer_value(json_object_get(reply, "unplaced")) > 0) {
        CLEANUP(strbuf_releasep) struct strbuf why = STRBUF_EMPTY;

        rest_put_refusal(reply, &why);
        return answer_problem(c, PROBLEM_CONFLICT, "%s", why.text);
    }
    if (!json_is_object(is))
        return answer_done(c);
    CLEANUP(json_decrefp) json_t *element = rest_changed(kind, is, &source);

    if (json_integer_value(json_object_get(reply, "status")) == MHD_HTTP_CREATED)
        (void)snprintf(c->location, sizeof c->location, "%s/%s/%s", REST_ROOT, segment(c, 0),
                       json_string_value(json_object_get(element, "id")));
    return answer_element(c, (unsigned)json_integer_value(json_object_get(reply, "status")), kind, element);
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* The next reply that the path needs; request_kind_count: all are there. */
static enum request_kind needed(const struct http_call *c)
{
    static const struct {
        const char *collection;
        enum request_kind kinds[STATUS_REPLIES];
        size_t n;
    } all[] = {
        {"hosts", {REQUEST_HOSTS}, 1},
        {"vms", {REQUEST_VMS, REQUEST_HOSTS}, 2},
        {"", {REQUEST_POLICIES}, 1},
    };
    size_t i = 0;

    if (n_segments(c) == 0 || (c->method != HTTP_GET && !is_action(c)))
        return request_kind_count;
    while (*all[i].collection && strcmp(all[i].collection, segment(c, 0)) != 0)
        i++;
    return c->n_shown < all[i].n ? all[i].kinds[c->n_shown] : request_kind_count;
}

enum MHD_Result rest_route_go_on(struct http_call *c)
{
    enum request_kind next;

    if (c->reply && c->acted)
        return answer_acted(c);
    if (c->reply) {
        c->shown[c->n_shown++] = list_text_new(c->reply, NULL);
        shared_text_unref(c->reply);
        c->reply = NULL;
    }
    while ((next = needed(c)) != request_kind_count) {
        struct list_text *text = exchange_published(c, next);

        if (!text)
            return ask(c, json_pack("{s: s}", "command", request_kind_name(next)));
        c->shown[c->n_shown++] = text;
    }
    return c->method == HTTP_GET ? answer_get(c) : is_action(c) ? ask_for_action(c) : ask_for_change(c);
}

enum MHD_Result rest_route_serve(struct http_call *c)
{
    const char *version = exchange_header(c, "Version");

    if (version && strcmp(version, "3") != 0 && strcmp(version, "4") != 0)
        return answer_problem(c, PROBLEM_REQUEST, "this service has the versions 3 and 4");
    if (c->route->kind == ROUTE_REST_NEVER)
        return answer_problem(c, PROBLEM_REQUEST, "Cannot %s. This system starts and moves VMs only.",
                              segment(c, 2));
    return rest_route_go_on(c);
}

/* ---- who asks ---------------------------------------------------------------------------------- */

#define BASIC "Basic "

/* "NAME@internal:TOKEN" in base64: the token. */
bool rest_route_basic(const struct http_call *c, char ret[static TOKEN_TEXT_SIZE + 1])
{
    const char *given = exchange_header(c, "Authorization");
    gnutls_datum_t text = {0};
    bool found = false;

    if (!rest_route_is_under(&c->target) || !given || strncasecmp(given, BASIC, strlen(BASIC)) != 0)
        return false;
    given += strlen(BASIC);
    const gnutls_datum_t encoded = {(unsigned char *)(uintptr_t)given, (unsigned)strlen(given)};

    if (gnutls_base64_decode2(&encoded, &text) < 0)
        return false;
    const unsigned char *colon = memchr(text.data, ':', text.size);
    const size_t n = colon ? text.size - (size_t)(colon + 1 - text.data) : 0;

    if (n > 0 && n <= TOKEN_TEXT_SIZE && !memchr(colon + 1, '\0', n)) {
        memcpy(ret, colon + 1, n);
        ret[n] = '\0';
        found = true;
    }
    gnutls_memset(text.data, 0, text.size);
    gnutls_free(text.data);
    return found;
}

static enum MHD_Result refuse_login(struct http_call *c, unsigned status, const char *code, const char *why)
{
    CLEANUP(json_decrefp) json_t *refused = json_pack("{s: s, s: s}", "error_code", code, "error", why);
    CLEANUP(freep) char *text = json_dumps(refused, JSON_COMPACT);

    return answer_text(c, status, "application/json", text ? text : "{}");
}

/* The token of the API is the password, and the token of the session: nothing is kept. */
enum MHD_Result rest_route_login(struct http_call *c)
{
    char password[TOKEN_TEXT_SIZE + 1] = "";
    char user[2 * TOKEN_NAME_MAX] = "";
    char scope[64];
    struct token token;
    enum MHD_Result r;

    if (strcmp(c->target.segments[1], "services") == 0)
        return answer_text(c, MHD_HTTP_OK, "application/json", "{}");
    if (form_field(c->body.text, c->body.len, "scope", scope, sizeof scope) < 0)
        return refuse_login(c, MHD_HTTP_BAD_REQUEST, "invalid_request", "the scope is missing");
    if (form_field(c->body.text, c->body.len, "password", password, sizeof password) < 0 ||
        form_field(c->body.text, c->body.len, "username", user, sizeof user) < 0)
        return refuse_login(c, MHD_HTTP_BAD_REQUEST, "invalid_request", "username or password is missing");
    user[strcspn(user, "@")] = '\0';
    if (!gate_check_token(c, password, &token, &r) || !gate_note_sign_in(c, &r)) {
        explicit_bzero(password, sizeof password);
        return r;
    }
    enum MHD_Result ret;

    if (strcmp(user, token.name) != 0) {
        ret = refuse_login(c, MHD_HTTP_UNAUTHORIZED, "access_denied",
                           "the user is not the name of the token that is the password");
    } else {
        CLEANUP(json_decrefp)
        json_t *given =
            json_pack("{s: s, s: s, s: o, s: s}", "access_token", password, "scope", "ovirt-app-api", "exp",
                      token.expires == 0 ? json_string("9223372036854775807")
                                         : json_sprintf("%lld000", (long long)token.expires),
                      "token_type", "bearer");
        CLEANUP(freep) char *text = json_dumps(given, JSON_COMPACT);

        ret = answer_text(c, MHD_HTTP_OK, "application/json", text ? text : "{}");
        if (text)
            explicit_bzero(text, strlen(text));
    }
    explicit_bzero(password, sizeof password);
    return ret;
}
