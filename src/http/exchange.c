/* exchange.c: one request: its checks, its way to the main thread and back, its answer. */
#include "http/header.h"
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

void *exchange_begin(void *http, const char *raw, struct MHD_Connection *connection)
{
    struct http_call *c = xcalloc(1, sizeof *c);

    c->http = http;
    c->connection = connection;
    c->raw = xstrdup(raw);
    c->body_max = REQUEST_BYTES_MAX;
    strbuf_init(&c->body, c->body_max);
    return c;
}

void exchange_end(void *http, struct MHD_Connection *connection, void **state,
                  enum MHD_RequestTerminationCode why)
{
    struct http_call *c = *state;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *x = info ? info->socket_context : NULL;

    (void)http, (void)why;
    *state = NULL;
    if (!c)
        return;
    if (x) {
        (void)pthread_mutex_lock(&c->http->connections_lock);
        x->waiting_since = time(NULL);
        (void)pthread_mutex_unlock(&c->http->connections_lock);
    }
    target_release(&c->target);
    if (c->body.len > 0)
        explicit_bzero(c->body.text, c->body.len); /* it may have a token */
    strbuf_release(&c->body);
    shared_text_unref(c->reply);
    for (size_t i = 0; i < c->n_shown; i++)
        list_text_unref(c->shown[i]);
    free(c->request);
    free(c->raw);
    free(c);
}

const char *exchange_header(const struct http_call *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

const char *exchange_bearer(const struct http_call *c)
{
    const char *given = exchange_header(c, "Authorization");

    return c->basic[0]                                                ? c->basic
           : given && strncasecmp(given, BEARER, strlen(BEARER)) == 0 ? given + strlen(BEARER)
                                                                      : NULL;
}

/* ---- answers without the main thread ----------------------------------------------------------- */

static enum MHD_Result answer_clusters(struct http_call *c)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    struct json_writer w = {.out = &out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "clusters", JW_ARRAY, JW_INLINE);
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "name", c->http->cluster);
    jw_end(&w);
    jw_end(&w);
    jw_text(&w, "who", c->who);
    jw_text(&w, "role", role_name(c->role));
    jw_end(&w);
    return answer_text(c, MHD_HTTP_OK, "application/json", out.text);
}

static enum MHD_Result answer_ready(struct http_call *c)
{
    const bool ready = atomic_load(&c->http->ready);

    return answer_text(c, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, c->route->type,
                       ready ? "ready\n" : "starting\n");
}

struct list_text *exchange_published(struct http_call *c, enum request_kind kind)
{
    struct http *h = c->http;

    (void)pthread_mutex_lock(&h->lock);
    struct list_text *l = h->published[kind];

    if (l)
        (void)list_text_ref(l);
    (void)pthread_mutex_unlock(&h->lock);
    return l;
}

/* False: it is to be asked for. What is published answers a request without fields. */
static bool answer_published(struct http_call *c, enum MHD_Result *ret)
{
    const bool plain =
        c->body.len == 0 && !c->body_too_large && !route_has_fields(c->route, &c->values, &c->target);
    struct list_text *text = plain ? exchange_published(c, c->route->request) : NULL;

    if (!text)
        return false;
    *ret = answer_reply(c, text);
    list_text_unref(text);
    return true;
}

/* ---- the main thread --------------------------------------------------------------------------- */

enum MHD_Result exchange_ask(struct http_call *c)
{
    struct http *h = c->http;

    if (atomic_fetch_add(&h->calls, 1) >= HTTP_CALLS_MAX) {
        (void)atomic_fetch_sub(&h->calls, 1);
        return answer_problem(c, PROBLEM_OVERLOADED, "%d requests wait already, the most at a time",
                              HTTP_CALLS_MAX);
    }
    (void)pthread_mutex_lock(&h->lock);
    if (h->stopping) {
        (void)pthread_mutex_unlock(&h->lock);
        (void)atomic_fetch_sub(&h->calls, 1);
        return answer_problem(c, PROBLEM_OVERLOADED, "the service is stopping");
    }
    c->asked = true;
    MHD_suspend_connection(c->connection);
    h->is.ask(h->is.ctx, c);
    (void)pthread_mutex_unlock(&h->lock);
    return MHD_YES;
}

static void answered(struct http_call *c)
{
    (void)atomic_fetch_sub(&c->http->calls, 1);
    MHD_resume_connection(c->connection);
}

struct request *http_call_request(struct http_call *call)
{
    return call->request;
}

const char *http_call_who(const struct http_call *call)
{
    return call->who;
}

const char *http_call_person(const struct http_call *call)
{
    return call->person;
}

enum role http_call_role(const struct http_call *call)
{
    return call->role;
}

int http_call_fd(const struct http_call *call)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

void http_answer(struct http_call *call, struct shared_text *text)
{
    call->reply = shared_text_ref(text);
    answered(call);
}

void http_refuse(struct http_call *call, const struct err *err)
{
    call->err = *err;
    answered(call);
}

static enum MHD_Result answer_asked(struct http_call *c)
{
    if (c->err.code != 0)
        return answer_problem(c, problem_of(&c->err), "%s", c->err.text);
    if (c->route->kind == ROUTE_STATUS_PAGE)
        return status_route_go_on(c);
    if (c->route->kind == ROUTE_REST)
        return rest_route_go_on(c);
    struct list_text *reply = list_text_new(c->reply, c->route->member);
    enum MHD_Result r = c->route->kind == ROUTE_STREAM ? answer_stream(c, reply) : answer_reply(c, reply);

    list_text_unref(reply);
    return r;
}

/* A browser that comes back says in a header which event it has seen last. */
static enum MHD_Result serve_stream(struct http_call *c)
{
    if (c->target.n_parameters > 0 && (c->target.n_parameters > 1 || !target_parameter(&c->target, "after")))
        return answer_problem(c, PROBLEM_REQUEST, "a stream has no parameter but \"after\"");
    if (header_event_id(exchange_header(c, "Last-Event-ID"), &c->request->after))
        c->request->from_start = true;
    c->request->limit = HISTORY_LIMIT_MAX;
    if (c->head)
        return answer_text(c, MHD_HTTP_OK, STREAM_TYPE, "");
    return c->request->from_start ? exchange_ask(c) : answer_stream(c, NULL);
}

/* ---- a request --------------------------------------------------------------------------------- */

static bool find_method(const char *word, enum http_method *ret)
{
    for (unsigned i = 0; i < http_method_count; i++) {
        if (strcmp(http_method_name((enum http_method)i), word) == 0) {
            *ret = (enum http_method)i;
            return true;
        }
    }
    return false;
}

static bool is_other_cluster(const struct http_call *c)
{
    const char *cluster = route_value(&c->values, "{cluster}");

    return cluster && strcmp(cluster, c->http->cluster) != 0;
}

/* What can be judged by the headers alone. MHD_YES without an answer: go on. */
static enum MHD_Result check_headers(struct http_call *c, const char *method)
{
    const char *length = exchange_header(c, "Content-Length");
    enum MHD_Result r = MHD_YES;
    unsigned methods = 0;
    struct err err;
    bool known = true;
    const bool options = strcmp(method, "OPTIONS") == 0;

    c->head = strcmp(method, "HEAD") == 0;
    if (c->head || options)
        c->method = HTTP_GET;
    else
        known = find_method(method, &c->method);
    if (target_parse(c->raw, &c->target, &err) < 0)
        return answer_problem(c, PROBLEM_REQUEST, "%s", err.text);
    c->route = route_find(c->method, &c->target, &c->values, &methods);
    if (!known || options)
        c->route = NULL;
    (void)rest_route_basic(c, c->basic);
    if (!gate_pass(c, &r))
        return r;
    if (methods == 0 || is_other_cluster(c))
        return answer_problem(c, PROBLEM_NOT_FOUND, "%s",
                              methods
                                  ? "this service has no such cluster; /api/v1/clusters lists those it has"
                                  : "no route has this path");
    if (options)
        return answer_options(c, methods);
    if (!c->route)
        return answer_wrong_method(c, methods);
    if (c->route->kind == ROUTE_SESSION ||
        c->route->kind == ROUTE_STATUS_FORM) { /* without a role one sends no more than a token */
        c->body_max = SIGN_IN_BYTES_MAX;
        strbuf_release(&c->body);
        strbuf_init(&c->body, c->body_max);
    }
    if (length && strtoull(length, NULL, 10) > c->body_max)
        return answer_problem(c, PROBLEM_TOO_LARGE, "the body has more than %zu bytes", c->body_max);
    return MHD_YES;
}

static bool has_body(const struct http_call *c)
{
    const char *length = exchange_header(c, "Content-Length");

    return exchange_header(c, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

bool exchange_body(struct http_call *c, json_t **ret, enum MHD_Result *ret_problem)
{
    json_error_t where;

    *ret = NULL;
    if (c->body_too_large)
        *ret_problem = answer_problem(c, PROBLEM_TOO_LARGE, "the body has more than %zu bytes", c->body_max);
    else if (c->body.len > 0 && !header_is_json(exchange_header(c, "Content-Type")))
        *ret_problem =
            answer_problem(c, PROBLEM_MEDIA_TYPE, "expected the header \"Content-Type: application/json\"");
    else if (c->body.len > 0 &&
             !(*ret = json_loadb(c->body.text, c->body.len, JSON_REJECT_DUPLICATES, &where)))
        *ret_problem = answer_problem(c, PROBLEM_REQUEST, "the body is not JSON: %s", where.text);
    else
        return true;
    return false;
}

/* False: a problem was queued. */
static bool make_request(struct http_call *c, enum MHD_Result *ret)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    struct err err;

    if (!exchange_body(c, &body, ret))
        return false;
    c->request = xcalloc(1, sizeof *c->request);
    if (route_request(c->route, &c->values, &c->target, body, c->request, &err) < 0) {
        *ret = answer_problem(c, PROBLEM_REQUEST, "%s", err.text);
        return false;
    }
    if (c->request->follow) {
        *ret = answer_problem(c, PROBLEM_REQUEST, "\"follow\": expected a request to /events/stream instead");
        return false;
    }
    return true;
}

static enum MHD_Result serve(struct http_call *c)
{
    enum MHD_Result r = MHD_NO;

    if (c->route->kind == ROUTE_HEALTHY)
        return answer_text(c, MHD_HTTP_OK, c->route->type, "ok\n");
    if (c->route->kind == ROUTE_READY)
        return answer_ready(c);
    if (c->route->kind == ROUTE_PAGE)
        return answer_page_file(c);
    if ((c->route->kind == ROUTE_CLUSTERS || c->route->kind == ROUTE_DESCRIPTION ||
         c->route->kind == ROUTE_SESSION) &&
        c->target.n_parameters > 0)
        return answer_problem(c, PROBLEM_REQUEST, "\"%.40s\": this path has no parameters",
                              c->target.parameters[0].name);
    if (c->route->kind == ROUTE_CLUSTERS)
        return answer_clusters(c);
    if (c->route->kind == ROUTE_DESCRIPTION)
        return answer_reply(c, c->http->description);
    if (c->route->kind == ROUTE_SESSION)
        return sign_in_serve(c);
    if (c->route->kind == ROUTE_STATUS_PAGE)
        return status_route_serve(c);
    if (c->route->kind == ROUTE_STATUS_FORM)
        return status_route_serve_form(c);
    if (c->route->kind == ROUTE_REST || c->route->kind == ROUTE_REST_NEVER)
        return rest_route_serve(c);
    if (c->route->kind == ROUTE_REST_LOGIN)
        return rest_route_login(c);
    if (answer_published(c, &r) || !make_request(c, &r))
        return r;
    return c->route->kind == ROUTE_STREAM ? serve_stream(c) : exchange_ask(c);
}

/* The connection has a whole request: nothing to wait for. */
static void stop_waiting(const struct http_call *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *x = info ? info->socket_context : NULL;

    if (!x)
        return;
    (void)pthread_mutex_lock(&c->http->connections_lock);
    x->waiting_since = 0;
    (void)pthread_mutex_unlock(&c->http->connections_lock);
}

enum MHD_Result exchange_handle(void *http, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *data, size_t *size,
                                void **state)
{
    struct http_call *c = *state;

    (void)http, (void)url, (void)version, (void)connection;
    if (!c)
        return MHD_NO;
    if (!c->begun) { /* with a body, an answer now spares its transfer, and ends the connection */
        c->begun = true;
        c->checked = has_body(c);
        return c->checked ? check_headers(c, method) : MHD_YES;
    }
    if (c->asked)
        return answer_asked(c);
    if (*size > 0) {
        strbuf_add(&c->body, data, *size);
        c->body_too_large = c->body.overflow;
        *size = 0;
        return MHD_YES;
    }
    stop_waiting(c);
    if (!c->checked && check_headers(c, method) == MHD_NO)
        return MHD_NO;
    return c->answered ? MHD_YES : serve(c);
}
