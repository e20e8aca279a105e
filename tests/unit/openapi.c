/* conf/openapi.json describes the API over HTTP (OpenAPI 3.1). It is made from the table of routes, the table
 * of requests and the schemas of conf/schema, so that no route, field or role is missing.
 *
 * When one of them changes: unit-openapi --print > conf/openapi.json */
#include "api_document.h"
#include "unit.h"

#include "http/problem.h"
#include "http/route.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the schemas ---- */

static json_t *requests, *replies;

static json_t *fields_of(enum request_kind kind)
{
    return json_object_get(api_document_definition(requests, request_kind_name(kind)), "properties");
}

static json_t *component(const char *of, const char *name)
{
    return api_document_reference("#/components/%s/%s", of, name);
}

/* ---- parameters and bodies ---- */

static void add_parameter(json_t *list, const char *name, const char *in, bool required, json_t *schema,
                          const char *description)
{
    json_t *p =
        json_pack("{s:s,s:s,s:b,s:o}", "name", name, "in", in, "required", (int)required, "schema", schema);

    if (description)
        json_object_set_new(p, "description", json_string(description));
    json_array_append_new(list, p);
}

/* A field of the request that stands in the path or is a parameter: of a list one element. */
static void add_field(json_t *list, const struct route *r, const char *field, const char *name,
                      const char *in, bool required)
{
    const char *word = request_kind_name(r->request);
    const char *description =
        json_string_value(json_object_get(json_object_get(fields_of(r->request), field), "description"));
    enum request_form form = REQUEST_TEXT;

    assert_int_equal(request_field_form(r->request, field, &form), 0);
    json_t *target = api_document_definition(requests, word);
    const char *alias = json_string_value(json_object_get(json_object_get(requests, word), "$ref"));

    assert_non_null(target);
    add_parameter(list, name, in, required,
                  api_document_reference("schema/requests.json#/$defs/%s/properties/%s%s",
                                         alias ? alias + 8 : word, field,
                                         form == REQUEST_LIST ? "/items" : ""),
                  description);
}

/* The request takes no fields here: with them it needs more than the route's role. */
static bool is_bare(const struct route *r)
{
    return request_kind_needs(r->request) > route_needs(r);
}

static bool has_request(const struct route *r)
{
    return r->kind <= ROUTE_STREAM;
}

/* The field that a value of the path is; "": none. */
static const char *field_of_path(const struct route *r, const char *name)
{
    enum request_form form;

    if (strcmp(name, "cluster") == 0 || strcmp(name, "item") == 0 || !has_request(r))
        return "";
    return strcmp(name, "id") == 0 && request_field_form(r->request, "id", &form) < 0 ? "ids" : name;
}

/* taken: the fields that the path has. */
static void add_path(json_t *list, const struct route *r, json_t *taken)
{
    for (const char *at = r->path; (at = strchr(at, '{')) != NULL; at++) {
        char name[32];

        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        const char *field = field_of_path(r, name);

        if (strcmp(name, "cluster") == 0) {
            json_array_append_new(list, component("parameters", "cluster"));
        } else if (field[0]) {
            add_field(list, r, field, name, "path", true);
            json_object_set_new(taken, field, json_true());
        } else {
            add_parameter(list, name, "path", true,
                          api_document_reference("schema/requests.json#/$defs/name"),
                          has_request(r) ? "id or name" : "name of the file");
        }
    }
}

static void add_query(json_t *list, const struct route *r, json_t *taken)
{
    const char *name;
    bool required;

    if (r->kind == ROUTE_LIST) {
        json_array_append_new(list, component("parameters", "limit"));
        json_array_append_new(list, component("parameters", "cursor"));
    }
    for (size_t i = 0; !is_bare(r) && (name = request_field(r->request, i, &required)) != NULL; i++) {
        enum request_form form;

        assert_int_equal(request_field_form(r->request, name, &form), 0);
        if (r->kind == ROUTE_STREAM ? strcmp(name, "after") == 0
                                    : !json_object_get(taken, name) && strcmp(name, "follow") != 0 &&
                                          form != REQUEST_OBJECT) /* a body has it */
            add_field(list, r, name, name, "query", required);
    }
}

static void add_body(json_t *operation, const struct route *r, json_t *taken)
{
    const char *kind = request_kind_name(r->request);
    json_t *schema = api_document_reference("schema/requests.json#/$defs/%s", kind);
    json_t *beside = json_object(); /* of fields in the path */
    bool any = false, needed = false, required;
    const char *name;

    for (size_t i = 0; (name = request_field(r->request, i, &required)) != NULL; i++) {
        if (json_object_get(taken, name))
            continue;
        any = true;
        needed = needed || required;
        json_object_set_new(
            beside, name, api_document_reference("schema/requests.json#/$defs/%s/properties/%s", kind, name));
    }
    if (json_object_size(taken) > 0) {
        json_decref(schema);
        assert_false(needed);
        schema = json_pack("{s:s,s:O}", "type", "object", "properties", beside);
    }
    json_decref(beside);
    if (any)
        json_object_set_new(operation, "requestBody",
                            json_pack("{s:b,s:{s:{s:O}}}", "required", (int)needed, "content",
                                      "application/json", "schema", schema));
    json_decref(schema);
}

static json_t *sign_in_body(void)
{
    return json_pack("{s:b,s:s,s:{s:{s:{s:s,s:[s],s:{s:{s:s}},s:b}}}}", "required", 0, "description",
                     "Without it the token stands in the Authorization header.", "content",
                     "application/json", "schema", "type", "object", "required", "token", "properties",
                     "token", "type", "string", "additionalProperties", 0);
}

/* ---- responses ---- */

static json_t *content(const char *type, json_t *schema)
{
    char media[64];

    (void)snprintf(media, sizeof media, "%.*s", (int)strcspn(type, ";"), type);
    return json_pack("{s:{s:o}}", media, "schema", schema);
}

static json_t *text_schema(void)
{
    return json_pack("{s:s}", "type", "string");
}

/* What a text in a reply holds, where that is JSON. */
static json_t *member_schema(const struct route *r)
{
    json_t *member = json_object_get(
        json_object_get(api_document_definition(replies, request_kind_name(r->request)), "properties"),
        r->member);
    const char *file = json_string_value(json_object_get(json_object_get(member, "contentSchema"), "$ref"));

    return file ? api_document_reference("schema/%s", file) : text_schema();
}

static json_t *success_content(const struct route *r)
{
    const char *word = has_request(r) ? request_kind_name(r->request) : NULL;

    switch (r->kind) {
    case ROUTE_REQUEST:
    case ROUTE_LIST:
    case ROUTE_PAGED:
        return content("application/json", api_document_reference("schema/replies.json#/$defs/%s", word));
    case ROUTE_ITEM:
        return content(
            "application/json",
            api_document_reference("schema/replies.json#/$defs/%s/properties/%s/items", word, r->member));
    case ROUTE_MEMBER:
        return content(r->type ? r->type : "application/json", member_schema(r));
    case ROUTE_STREAM:
        return content("text/event-stream", text_schema());
    case ROUTE_CLUSTERS:
        return content("application/json", api_document_reference("schema/replies.json#/$defs/clusters"));
    case ROUTE_SESSION:
        return content("application/json", api_document_reference("schema/replies.json#/$defs/session"));
    case ROUTE_DESCRIPTION:
        return content("application/json", json_pack("{s:s}", "type", "object"));
    case ROUTE_REST: /* oVirt describes its API itself */
    case ROUTE_REST_NEVER:
    case ROUTE_REST_LOGIN:
    case ROUTE_STATUS_PAGE:
    case ROUTE_STATUS_FORM:
        break; /* for people */
    case ROUTE_PAGE:
        return content(strchr(r->path, '{') ? "*/*" : "text/html", text_schema());
    case ROUTE_HEALTHY:
    case ROUTE_READY:
        return content("text/plain", text_schema());
    }
    return NULL;
}

/* ETag and 304 come with each text that is asked for again and again. */
static bool has_etag(const struct route *r)
{
    return r->method == HTTP_GET && r->kind != ROUTE_STREAM && r->kind != ROUTE_CLUSTERS &&
           r->kind != ROUTE_SESSION && r->kind != ROUTE_HEALTHY && r->kind != ROUTE_READY;
}

static json_t *success(const struct route *r)
{
    json_t *s = json_pack("{s:s,s:o}", "description", "Done.", "content", success_content(r));
    json_t *headers = json_object();

    if (r->method == HTTP_GET)
        json_object_set_new(s, "description",
                            json_string(r->kind == ROUTE_STREAM ? "Events as they come." : "Here it is."));
    if (has_etag(r))
        json_object_set_new(headers, "ETag", component("headers", "ETag"));
    if (r->kind == ROUTE_SESSION && r->method != HTTP_GET)
        json_object_set_new(headers, "Set-Cookie", component("headers", "Set-Cookie"));
    if (r->kind == ROUTE_LIST || r->kind == ROUTE_PAGED)
        json_object_set_new(headers, "Link", component("headers", "Link"));
    if (r->kind == ROUTE_LIST) {
        json_object_set_new(headers, "X-Total-Count", component("headers", "X-Total-Count"));
    }
    if (json_object_size(headers) > 0)
        json_object_set(s, "headers", headers);
    json_decref(headers);
    return s;
}

static void add_problem(json_t *responses, enum problem p)
{
#define PROBLEM_NAME(e, name, status, title) [e] = (name),
    static const char *const names[problem_count] = {PROBLEMS(PROBLEM_NAME)};
    char status[16];

    (void)snprintf(status, sizeof status, "%u", problem_status(p));
    json_object_set_new(responses, status, component("responses", names[p]));
}

static bool names_something(const struct route *r)
{
    return strchr(r->path, '{') != NULL || r->kind == ROUTE_PAGE;
}

static json_t *responses(const struct route *r)
{
    json_t *all = json_object();

    json_object_set_new(all, "200", success(r));
    if (has_etag(r))
        json_object_set_new(all, "304", component("responses", "not-modified"));
    add_problem(all, PROBLEM_REQUEST);
    if (!route_is_open(r) || r->kind == ROUTE_SESSION) {
        add_problem(all, PROBLEM_UNAUTHORIZED);
        if (r->method != HTTP_GET || route_needs(r) > ROLE_VIEWER)
            add_problem(all, PROBLEM_FORBIDDEN);
    }
    if (names_something(r))
        add_problem(all, PROBLEM_NOT_FOUND);
    if (has_request(r))
        add_problem(all, PROBLEM_CONFLICT);
    if (r->method != HTTP_GET) {
        add_problem(all, PROBLEM_TOO_LARGE);
        add_problem(all, PROBLEM_MEDIA_TYPE);
    }
    add_problem(all, PROBLEM_MISDIRECTED);
    if (has_request(r) && r->request == REQUEST_MAINTENANCE && r->method != HTTP_GET)
        add_problem(all, PROBLEM_UNCONFIRMED);
    if (!route_is_open(r) || r->kind == ROUTE_SESSION)
        add_problem(all, PROBLEM_ATTEMPTS);
    if (has_request(r) || (r->kind == ROUTE_SESSION && r->method == HTTP_POST)) {
        add_problem(all, PROBLEM_INTERNAL);
        add_problem(all, PROBLEM_OVERLOADED);
    }
    if (r->kind == ROUTE_READY)
        json_object_set_new(all, "503", component("responses", "starting"));
    return all;
}

/* ---- operations ---- */

static const char *summary_of(const struct route *r)
{
#define REQUEST_MEANING(e, word, role, meaning) [e] = (meaning),
    static const char *const meanings[request_kind_count] = {REQUESTS(REQUEST_MEANING)};

    switch (r->kind) {
    case ROUTE_REQUEST:
    case ROUTE_LIST:
    case ROUTE_PAGED:
    case ROUTE_ITEM:
    case ROUTE_MEMBER:
    case ROUTE_STREAM:
        return meanings[r->request];
    case ROUTE_CLUSTERS:
        return "the clusters of the service, and who asks with which role";
    case ROUTE_SESSION:
        return r->method == HTTP_POST     ? "exchanges a token for the session of a browser: a cookie"
               : r->method == HTTP_DELETE ? "signs out: ends the session"
                                          : "who is signed in, until when, and the CSRF token";
    case ROUTE_DESCRIPTION:
        return "this document, with all schemas";
    case ROUTE_REST: /* oVirt describes its API itself */
    case ROUTE_REST_NEVER:
    case ROUTE_REST_LOGIN:
    case ROUTE_STATUS_PAGE:
    case ROUTE_STATUS_FORM:
        break;
    case ROUTE_PAGE:
        return "the dashboard";
    case ROUTE_HEALTHY:
        return "whether the service runs";
    case ROUTE_READY:
        return "whether the service has an inventory";
    }
    return "";
}

static void set_summary(json_t *operation, const struct route *r)
{
    char summary[160];

    (void)snprintf(summary, sizeof summary, "%s%s", r->kind == ROUTE_ITEM ? "one of " : "", summary_of(r));
    if (r->kind == ROUTE_STREAM)
        (void)snprintf(summary, sizeof summary, "events as they come");
    summary[0] = (char)toupper((unsigned char)summary[0]);
    json_object_set_new(operation, "summary", json_string(summary));
}

/* The method and the words of the path. */
static void set_id(json_t *operation, const struct route *r)
{
    const char *at = strstr(r->path, "{cluster}/");
    char id[128];
    size_t n = 0;

    at = at ? at + 9 : strncmp(r->path, "/api/v1", 7) == 0 ? r->path + 7 : r->path;
    for (const char *m = http_method_name(r->method); *m; m++)
        id[n++] = (char)tolower((unsigned char)*m);
    if (at[1] == '\0')
        at = "/dashboard";
    for (; *at && n + 1 < sizeof id; at++) {
        if (strchr("/.-", *at))
            id[n++] = '_';
        else if (isalnum((unsigned char)*at) || *at == '_')
            id[n++] = *at;
    }
    id[n] = '\0';
    json_object_set_new(operation, "operationId", json_string(id));
}

static const char *tag_of(const struct route *r)
{
    if (!strstr(r->path, "{cluster}"))
        return "service";
    return r->method == HTTP_GET || route_needs(r) == ROLE_VIEWER ? "look" : "act";
}

static json_t *operation_of(const struct route *r)
{
    json_t *o = json_object();
    json_t *parameters = json_array();
    json_t *taken = json_object();

    set_id(o, r);
    set_summary(o, r);
    json_object_set_new(o, "tags", json_pack("[s]", tag_of(r)));
    json_object_set_new(o, "security",
                        route_is_open(r) ? json_array()
                                         : json_pack("[{s:[s]},{s:[s]}]", "token", role_name(route_needs(r)),
                                                     "session", role_name(route_needs(r))));
    add_path(parameters, r, taken);
    if (has_request(r) && r->method == HTTP_GET)
        add_query(parameters, r, taken);
    if (has_request(r) && r->method != HTTP_GET)
        add_body(o, r, taken);
    if (r->kind == ROUTE_SESSION && r->method == HTTP_POST)
        json_object_set_new(o, "requestBody", sign_in_body());
    if (r->kind == ROUTE_SESSION && r->method == HTTP_DELETE)
        json_array_append_new(parameters, component("parameters", "X-CSRF-Token"));
    if (has_etag(r))
        json_array_append_new(parameters, component("parameters", "If-None-Match"));
    if (r->kind == ROUTE_STREAM)
        json_array_append_new(parameters, component("parameters", "Last-Event-ID"));
    if (json_array_size(parameters) > 0)
        json_object_set(o, "parameters", parameters);
    json_object_set_new(o, "responses", responses(r));
    json_decref(parameters);
    json_decref(taken);
    return o;
}

static json_t *paths(void)
{
    json_t *all = json_object();

    for (size_t i = 0; i < n_routes; i++) {
        char method[16] = "";

        if (route_is_html(&routes[i]) || strncmp(routes[i].path, "/ovirt-engine", 13) == 0)
            continue; /* for people; described by oVirt */
        if (!json_object_get(all, routes[i].path))
            json_object_set_new(all, routes[i].path, json_object());
        for (const char *m = http_method_name(routes[i].method); *m; m++)
            method[strlen(method)] = (char)tolower((unsigned char)*m);
        json_object_set_new(json_object_get(all, routes[i].path), method, operation_of(&routes[i]));
    }
    return all;
}

/* ---- what operations share ---- */

static json_t *header_of(const char *description, json_t *schema)
{
    return json_pack("{s:s,s:o}", "description", description, "schema", schema);
}

static json_t *problem_response(enum problem p, const char *name, const char *title)
{
    char type[64];

    (void)snprintf(type, sizeof type, "/problems/%s", name);
    json_t *r = json_pack("{s:s,s:{s:{s:{s:s,s:{s:{s:s},s:{s:i}}}}}}", "description", title, "content",
                          PROBLEM_TYPE, "schema", "$ref", "schema/replies.json#/$defs/problem", "properties",
                          "type", "const", type, "status", "const", (int)problem_status(p));

    if (p == PROBLEM_UNAUTHORIZED)
        json_object_set_new(r, "headers",
                            json_pack("{s:o}", "WWW-Authenticate", component("headers", "WWW-Authenticate")));
    if (p == PROBLEM_OVERLOADED || p == PROBLEM_ATTEMPTS)
        json_object_set_new(r, "headers",
                            json_pack("{s:o}", "Retry-After", component("headers", "Retry-After")));
    return r;
}

static json_t *shared_responses(void)
{
    json_t *all = json_object();

#define PUT_PROBLEM(e, name, status, title) json_object_set_new(all, name, problem_response(e, name, title));
    PROBLEMS(PUT_PROBLEM)
    json_object_del(all, "method-not-allowed"); /* of no operation */
    json_object_set_new(all, "not-modified",
                        json_pack("{s:s,s:{s:o}}", "description",
                                  "The text still has the ETag that If-None-Match names.", "headers", "ETag",
                                  component("headers", "ETag")));
    json_object_set_new(all, "starting",
                        json_pack("{s:s,s:o}", "description", "There is no inventory yet.", "content",
                                  content("text/plain", text_schema())));
    return all;
}

static json_t *shared_headers(void)
{
    json_t *all = json_object();

    json_object_set_new(all, "ETag", header_of("Strong: of the whole text (RFC 9110).", text_schema()));
    json_object_set_new(
        all, "Link",
        header_of("The next page (RFC 8288): <...>; rel=\"next\". Absent: it is the last.", text_schema()));
    json_object_set_new(all, "X-Total-Count",
                        header_of("Elements on all pages together.",
                                  json_pack("{s:s,s:i}", "type", "integer", "minimum", 0)));
    json_object_set_new(all, "Retry-After",
                        header_of("Seconds.", json_pack("{s:s,s:i}", "type", "integer", "minimum", 1)));
    json_object_set_new(
        all, "Set-Cookie",
        header_of("The session: HttpOnly, SameSite=Strict, and with TLS Secure, its name begins "
                  "with __Host- then.",
                  text_schema()));
    json_object_set_new(all, "WWW-Authenticate", header_of("Bearer.", text_schema()));
    return all;
}

static json_t *shared_parameters(void)
{
    json_t *list = json_array();
    json_t *all = json_object();
    json_t *one;
    size_t i;

    add_parameter(list, "cluster", "path", true, text_schema(), "name of the cluster (/api/v1/clusters)");
    add_parameter(
        list, "limit", "query", false,
        json_pack("{s:s,s:i,s:i,s:i}", "type", "integer", "minimum", 1, "maximum", 10000, "default", 100),
        "elements of the page");
    add_parameter(list, "cursor", "query", false, text_schema(), "from the Link header of the page before");
    add_parameter(list, "If-None-Match", "header", false, text_schema(),
                  "an ETag: 304 if the text still has it (RFC 9110)");
    add_parameter(list, "Last-Event-ID", "header", false,
                  json_pack("{s:s,s:i}", "type", "integer", "minimum", 0),
                  "number of the last event that was received: the stream goes on behind it");
    add_parameter(list, "X-CSRF-Token", "header", false, text_schema(),
                  "the csrf_token of the session; by cookie each request that changes something needs it");
    json_array_foreach(list, i, one)
    {
        json_object_set(all, json_string_value(json_object_get(one, "name")), one);
    }
    json_decref(list);
    return all;
}

static json_t *token_scheme(void)
{
    return json_pack("{s:s,s:s,s:s}", "type", "http", "scheme", "bearer", "description",
                     "A token (`ballast token create`) with a role. An operation names the least role that "
                     "it needs: viewer, operator or admin, each with the rights of those before it.");
}

static json_t *session_scheme(void)
{
    return json_pack(
        "{s:s,s:s,s:s,s:s}", "type", "apiKey", "in", "cookie", "name", "__Host-ballast-8443", "description",
        "The session of a browser (POST /api/v1/session); the name has the port, and without TLS "
        "no __Host-. What changes something needs the header X-CSRF-Token as well.");
}

static json_t *tag(const char *name, const char *description)
{
    return json_pack("{s:s,s:s}", "name", name, "description", description);
}

#define ABOUT                                                                                                \
    "The requests that the command `ballast` makes at the service's socket, over HTTP. Each GET is also "    \
    "answered to HEAD, and each path to OPTIONS. Members are added to replies, none changes its meaning: a " \
    "client ignores those that it does not know. Fields of a body may stand in the query, too. Values in "   \
    "path and query hold no control characters. A path with another method gets 405 with `Allow`, and "      \
    "headers of more than 32 KiB get 431."

static json_t *document(void)
{
    json_t *d = json_object();

    json_object_set_new(d, "openapi", json_string("3.1.0"));
    json_object_set_new(d, "info",
                        json_pack("{s:s,s:s,s:s,s:{s:s,s:s}}", "title", "Ballast", "version", "1",
                                  "description", ABOUT, "license", "name", "GPL-3.0-or-later", "identifier",
                                  "GPL-3.0-or-later"));
    json_object_set_new(d, "servers", json_pack("[{s:s,s:s}]", "url", "/", "description", "the service"));
    json_object_set_new(d, "tags",
                        json_pack("[o,o,o]", tag("act", "What changes something."),
                                  tag("look", "What the cluster is like."),
                                  tag("service", "The service itself.")));
    json_object_set_new(d, "paths", paths());
    json_object_set_new(d, "components",
                        json_pack("{s:{s:o,s:o},s:o,s:o,s:o,s:{}}", "securitySchemes", "token",
                                  token_scheme(), "session", session_scheme(), "parameters",
                                  shared_parameters(), "headers", shared_headers(), "responses",
                                  shared_responses(), "schemas"));
    return d;
}

/* ---- tests ---- */

static void test_document(void **state)
{
    json_t *d = document();

    (void)state;
    api_document_compare(d, "openapi.json", "unit-openapi --print > conf/openapi.json");
    json_decref(d);
}

static enum request_form form_of(const json_t *schema)
{
    const char *to = json_string_value(json_object_get(schema, "$ref"));
    const char *type = json_string_value(json_object_get(schema, "type"));

    if (to && strncmp(to, "#/$defs/", 8) == 0)
        return form_of(api_document_definition(requests, to + 8));
    if (type && (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0))
        return REQUEST_NUMBER;
    if (type && strcmp(type, "boolean") == 0)
        return REQUEST_FLAG;
    if (type && strcmp(type, "object") == 0)
        return REQUEST_OBJECT;
    return type && strcmp(type, "array") == 0 ? REQUEST_LIST : REQUEST_TEXT;
}

static bool lists(const json_t *names, const char *name)
{
    const json_t *one;
    size_t i;

    json_array_foreach(names, i, one)
    {
        if (strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

/* conf/schema/requests.json has the fields that the program reads, and no other. */
static void test_fields(void **state)
{
    (void)state;
    for (unsigned k = 0; k < request_kind_count; k++) {
        const enum request_kind kind = (enum request_kind)k;
        json_t *schema = api_document_definition(requests, request_kind_name(kind));
        const char *word = request_kind_name(kind);
        const char *name;
        size_t n = 0;
        bool required;

        if (!schema)
            fail_msg("conf/schema/requests.json lacks %s", word);
        for (; (name = request_field(kind, n, &required)) != NULL; n++) {
            enum request_form form;
            json_t *field = json_object_get(fields_of(kind), name);

            assert_int_equal(request_field_form(kind, name, &form), 0);
            if (!field)
                fail_msg("conf/schema/requests.json: %s lacks \"%s\"", word, name);
            if (form_of(field) != form)
                fail_msg("conf/schema/requests.json: %s: \"%s\" has another type in request.c", word, name);
            if (lists(json_object_get(schema, "required"), name) != required)
                fail_msg("conf/schema/requests.json: %s: \"%s\" is%s required in request.c", word, name,
                         required ? "" : " not");
        }
        if (n != json_object_size(fields_of(kind)))
            fail_msg("conf/schema/requests.json: %s has fields that request.c does not have", word);
    }
}

/* An operation describes each of its problems by the status. */
static void test_problems_have_one_status_each(void **state)
{
    (void)state;
    for (unsigned i = 0; i < problem_count; i++) {
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(problem_status((enum problem)i), problem_status((enum problem)j));
    }
}

static int read_schemas(void **state)
{
    (void)state;
    requests = api_document_definitions("requests");
    replies = api_document_definitions("replies");
    return 0;
}

static int release_schemas(void **state)
{
    (void)state;
    json_decref(requests);
    json_decref(replies);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_document),
                                       cmocka_unit_test(test_problems_have_one_status_each)};

    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        (void)read_schemas(NULL);
        json_t *d = document();
        char *text = api_document_text(d);

        json_decref(d);
        (void)fputs(text, stdout);
        free(text);
        return release_schemas(NULL);
    }
    return cmocka_run_group_tests(tests, read_schemas, release_schemas);
}
