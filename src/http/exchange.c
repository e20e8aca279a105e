/* exchange.c: one request: its checks, its way to the main thread and back, its answer. */
#include "http/internal.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *exchange_begin(void *http, const char *raw, struct MHD_Connection *connection)
{
    struct http_call *c = xcalloc(1, sizeof *c);

    c->http = http;
    c->connection = connection;
    c->raw = xstrdup(raw);
    strbuf_init(&c->body, REQUEST_BYTES_MAX);
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
    strbuf_release(&c->body);
    shared_text_unref(c->reply);
    free(c->request);
    free(c->raw);
    free(c);
}

const char *exchange_header(const struct http_call *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

/* ---- answers without the main thread ----------------------------------------------------------- */

static enum MHD_Result answer_clusters(struct http_call *c)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    struct json_writer w;

    strbuf_init(&out, STRBUF_NO_LIMIT);
    jw_init(&w, &out);
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
    strbuf_puts(&out, "\n");
    return answer_text(c, MHD_HTTP_OK, "application/json", out.text);
}

static enum MHD_Result answer_ready(struct http_call *c)
{
    const bool ready = atomic_load(&c->http->ready);

    return answer_text(c, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, c->route->type,
                       ready ? "ready\n" : "starting\n");
}

/* A text that the main thread has published. */
static struct list_text *published(struct http_call *c)
{
    struct http *h = c->http;

    (void)pthread_mutex_lock(&h->lock);
    struct list_text *l = h->published[c->route->request];

    if (l)
        (void)list_text_ref(l);
    (void)pthread_mutex_unlock(&h->lock);
    return l;
}

/* ---- the main thread --------------------------------------------------------------------------- */

static enum MHD_Result ask(struct http_call *c)
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

enum role http_call_role(const struct http_call *call)
{
    return call->role;
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
    struct list_text *reply = list_text_new(c->reply, c->route->member);
    enum MHD_Result r = c->route->kind == ROUTE_STREAM ? answer_stream(c, reply) : answer_reply(c, reply);

    list_text_unref(reply);
    return r;
}

/* A browser that comes back says in a header which event it has seen last. */
static enum MHD_Result serve_stream(struct http_call *c)
{
    const char *seen = exchange_header(c, "Last-Event-ID");

    if (c->target.n_parameters > 0 && (c->target.n_parameters > 1 || !target_parameter(&c->target, "after")))
        return answer_problem(c, PROBLEM_REQUEST, "a stream has no parameter but \"after\"");
    if (seen && *seen >= '0' && *seen <= '9') {
        c->request->after = strtoull(seen, NULL, 10);
        c->request->from_start = true;
    }
    c->request->limit = HISTORY_LIMIT_MAX;
    if (c->head)
        return answer_text(c, MHD_HTTP_OK, STREAM_TYPE, "");
    return c->request->from_start ? ask(c) : answer_stream(c, NULL);
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
    if (length && strtoull(length, NULL, 10) > REQUEST_BYTES_MAX)
        return answer_problem(c, PROBLEM_TOO_LARGE, "the body has more than %zu bytes", REQUEST_BYTES_MAX);
    return MHD_YES;
}

static bool has_body(const struct http_call *c)
{
    const char *length = exchange_header(c, "Content-Length");

    return exchange_header(c, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

static bool is_json(const struct http_call *c)
{
    const char *type = exchange_header(c, "Content-Type");

    return type && strncasecmp(type, "application/json", 16) == 0 &&
           (type[16] == '\0' || strchr("; ", type[16]));
}

/* False: a problem was queued. */
static bool make_request(struct http_call *c, enum MHD_Result *ret)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    json_error_t where;
    struct err err;

    if (c->body_too_large) {
        *ret = answer_problem(c, PROBLEM_TOO_LARGE, "the body has more than %zu bytes", REQUEST_BYTES_MAX);
        return false;
    }
    if (c->body.len > 0 && !is_json(c)) {
        *ret =
            answer_problem(c, PROBLEM_MEDIA_TYPE, "expected the header \"Content-Type: application/json\"");
        return false;
    }
    if (c->body.len > 0 && !(body = json_loadb(c->body.text, c->body.len, JSON_REJECT_DUPLICATES, &where))) {
        *ret = answer_problem(c, PROBLEM_REQUEST, "the body is not JSON: %s", where.text);
        return false;
    }
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
    if (c->route->kind == ROUTE_CLUSTERS)
        return answer_clusters(c);
    if (!make_request(c, &r))
        return r;
    if (c->route->kind == ROUTE_STREAM)
        return serve_stream(c);
    struct list_text *text = published(c);

    if (!text)
        return ask(c);
    r = answer_reply(c, text);
    list_text_unref(text);
    return r;
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
