/* answer.c: answers: problem documents, and replies of the service, whole or in pages. */
#include "http/header.h"
#include "http/internal.h"

#include "base/cleanup.h"
#include "http/status_page.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TYPE "application/json"
#define CHALLENGE "Bearer realm=\"ballast\""
#define POLICY_SIZE 256
#define PAGE_DEFAULT 100
#define PAGE_MOST 10000
#define DETAIL_MAX 700
#define LINK_SIZE (LIST_TEXT_CURSOR_SIZE * 3 + 256)
#define NEWLINE "\n"
#define CHANGES "private, no-cache"
#define NEVER_CHANGES "public, max-age=31536000, immutable"
#define NO_PAGE "default-src 'none'; frame-ancestors 'none'"
#define PAGE                                                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "          \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* ---- headers ---------------------------------------------------------------------------------- */

static void header(struct MHD_Response *r, const char *name, const char *value)
{
    (void)MHD_add_response_header(r, name, value);
}

/* Queues the response, and gives it up. policy: what a browser may load for it. */
static enum MHD_Result queue_with(struct http_call *c, unsigned status, const char *type, const char *cache,
                                  const char *policy, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    if (type)
        header(r, "Content-Type", type);
    header(r, "Cache-Control", cache);
    header(r, "X-Content-Type-Options", "nosniff");
    header(r, "X-Frame-Options", "DENY");
    /* with "no-referrer" a browser would send the status page's own forms with "Origin: null" */
    header(r, "Referrer-Policy", route_is_html(c->route) ? "same-origin" : "no-referrer");
    header(r, "Content-Security-Policy", policy);
    if (c->location[0])
        header(r, "Location", c->location);
    if (c->challenge)
        header(r, "WWW-Authenticate", c->challenge);
    if (c->http->cert_file)
        header(r, "Strict-Transport-Security", "max-age=31536000");
    sign_in_add_cookie(c, r);
    c->answered = true;
    enum MHD_Result done = MHD_queue_response(c->connection, status, r);

    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result queue(struct http_call *c, unsigned status, const char *type, struct MHD_Response *r)
{
    return queue_with(c, status, type, CHANGES, NO_PAGE, r);
}

/* ---- short answers ---------------------------------------------------------------------------- */

static struct MHD_Response *copied(const char *text, size_t len)
{
    return MHD_create_response_from_buffer(len, (void *)text, MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result answer_text(struct http_call *c, unsigned status, const char *type, const char *text)
{
    return queue(c, status, type, copied(text, strlen(text)));
}

static enum MHD_Result answer_problem_page(struct http_call *c, enum problem p, const char *detail);

enum MHD_Result answer_problem(struct http_call *c, enum problem p, const char *format, ...)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    char detail[DETAIL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    if (route_is_html(c->route) && !exchange_header(c, "Authorization"))
        return answer_problem_page(c, p, detail);
    if (rest_route_is_under(&c->target))
        return rest_route_refuse(c, p, detail,
                                 p == PROBLEM_UNAUTHORIZED ? CHALLENGE ", Basic realm=\"ovirt\"" : NULL);
    problem_write(p, detail, &out);
    struct MHD_Response *r = copied(out.text, out.len);

    if (p == PROBLEM_UNAUTHORIZED && r)
        header(r, "WWW-Authenticate", CHALLENGE);
    if ((p == PROBLEM_OVERLOADED || p == PROBLEM_ATTEMPTS) && r)
        header(r, "Retry-After", "1");
    return queue(c, problem_status(p), PROBLEM_TYPE, r);
}

/* ---- pages in plain HTML ---------------------------------------------------------------------- */

/* The style is a part of the page, so the policy has its hash. */
static void write_policy(char ret[POLICY_SIZE])
{
    unsigned char hash[32] = {0};
    const gnutls_datum_t bytes = {hash, sizeof hash};
    gnutls_datum_t text = {0};

    (void)gnutls_hash_fast(GNUTLS_DIG_SHA256, status_page_style, strlen(status_page_style), hash);
    if (gnutls_base64_encode2(&bytes, &text) < 0)
        text = (gnutls_datum_t){0};
    (void)snprintf(ret, POLICY_SIZE,
                   "default-src 'none'; style-src 'sha256-%.*s'; form-action 'self'; base-uri 'none'; "
                   "frame-ancestors 'none'",
                   (int)text.size, text.data ? (const char *)text.data : "");
    gnutls_free(text.data);
}

static enum MHD_Result queue_html(struct http_call *c, unsigned status, struct MHD_Response *r)
{
    char policy[POLICY_SIZE];

    write_policy(policy);
    if (r && status == MHD_HTTP_UNAUTHORIZED)
        header(r, "WWW-Authenticate", CHALLENGE);
    if (r && (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE))
        header(r, "Retry-After", "1");
    return queue_with(c, status, "text/html; charset=utf-8", "private, no-store", policy, r);
}

enum MHD_Result answer_html(struct http_call *c, unsigned status, const char *text)
{
    return queue_html(c, status, copied(text, strlen(text)));
}

enum MHD_Result answer_sign_in(struct http_call *c, unsigned status, const char *problem)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    status_page_write_sign_in(c->http->cluster, problem, &out);
    return answer_html(c, status, out.text);
}

static enum MHD_Result answer_problem_page(struct http_call *c, enum problem p, const char *detail)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    if (p == PROBLEM_UNAUTHORIZED || p == PROBLEM_ATTEMPTS)
        return answer_sign_in(c, problem_status(p), detail);
    status_page_write_problem(problem_title(p), detail, &out);
    return answer_html(c, problem_status(p), out.text);
}

enum MHD_Result answer_see_other(struct http_call *c, const char *path)
{
    struct MHD_Response *r = copied("", 0);

    if (r)
        header(r, "Location", path);
    return queue_html(c, MHD_HTTP_SEE_OTHER, r);
}

/* ---- methods ---------------------------------------------------------------------------------- */

static void list_methods(unsigned methods, char *ret, size_t size)
{
    size_t n = (size_t)snprintf(ret, size, "OPTIONS%s", methods & 1u << HTTP_GET ? ", HEAD" : "");

    for (unsigned i = 0; i < http_method_count && n < size; i++) {
        if (methods & 1u << i)
            n += (size_t)snprintf(ret + n, size - n, ", %s", http_method_name((enum http_method)i));
    }
}

enum MHD_Result answer_options(struct http_call *c, unsigned methods)
{
    struct MHD_Response *r = copied("", 0);
    char list[64];

    list_methods(methods, list, sizeof list);
    if (r)
        header(r, "Allow", list);
    return queue(c, MHD_HTTP_NO_CONTENT, NULL, r);
}

enum MHD_Result answer_wrong_method(struct http_call *c, unsigned methods)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    char list[64];

    list_methods(methods, list, sizeof list);
    if (rest_route_is_under(&c->target))
        return rest_route_refuse(c, PROBLEM_METHOD, list, NULL);
    problem_write(PROBLEM_METHOD, list, &out);
    struct MHD_Response *r = copied(out.text, out.len);

    if (r)
        header(r, "Allow", list);
    return queue(c, problem_status(PROBLEM_METHOD), PROBLEM_TYPE, r);
}

/* ---- replies ---------------------------------------------------------------------------------- */

static void release_list(void *list)
{
    list_text_unref(list);
}

/* Slices of the reply, which stays until they are sent. */
static struct MHD_Response *slices(struct list_text *reply, const struct iovec *parts, unsigned n)
{
    struct MHD_IoVec list[4];
    unsigned used = 0;

    for (unsigned i = 0; i < n; i++) {
        if (parts[i].iov_len > 0)
            list[used++] = (struct MHD_IoVec){parts[i].iov_base, parts[i].iov_len};
    }
    struct MHD_Response *r = MHD_create_response_from_iovec(list, used, release_list, list_text_ref(reply));

    if (!r)
        list_text_unref(reply);
    return r;
}

static bool has_etag(const struct http_call *c, const char *etag)
{
    return c->method == HTTP_GET && header_has_etag(exchange_header(c, "If-None-Match"), etag);
}

/* Queues 304 if the client has this text already. */
static enum MHD_Result queue_reply(struct http_call *c, struct list_text *reply, const char *type,
                                   struct MHD_Response *r)
{
    if (r && c->method == HTTP_GET)
        header(r, "ETag", list_text_etag(reply));
    return queue(c, MHD_HTTP_OK, type, r);
}

static enum MHD_Result queue_not_modified(struct http_call *c, struct list_text *reply)
{
    struct MHD_Response *r = copied("", 0);

    if (r)
        header(r, "ETag", list_text_etag(reply));
    return queue(c, MHD_HTTP_NOT_MODIFIED, NULL, r);
}

static bool read_limit(const char *text, size_t *ret)
{
    char *end = NULL;

    *ret = PAGE_DEFAULT;
    if (!text)
        return true;
    if (*text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return *end == '\0' && *ret >= 1 && *ret <= PAGE_MOST;
}

/* RFC 8288: where the next page is. */
static void add_link(struct MHD_Response *r, const struct http_call *c, size_t limit, const char *more)
{
    char cursor[LIST_TEXT_CURSOR_SIZE * 3];
    char link[LINK_SIZE];
    size_t path = strcspn(c->raw, "?");

    if (path < 200 && target_escape(more, strlen(more), cursor, sizeof cursor) == 0 &&
        snprintf(link, sizeof link, "<%.*s?limit=%zu&cursor=%s>; rel=\"next\"", (int)path, c->raw, limit,
                 cursor) < (int)sizeof link)
        header(r, "Link", link);
}

static enum MHD_Result answer_page(struct http_call *c, struct list_text *reply)
{
    char more[LIST_TEXT_CURSOR_SIZE];
    char count[24];
    struct iovec parts[3];
    size_t limit;

    if (!read_limit(target_parameter(&c->target, "limit"), &limit))
        return answer_problem(c, PROBLEM_REQUEST, "\"limit\": expected a number from 1 to %d", PAGE_MOST);
    if (list_text_page(reply, target_parameter(&c->target, "cursor"), limit, parts, more) < 0)
        return answer_problem(c, PROBLEM_REQUEST,
                              "\"cursor\": expected the one of the Link header of the page before");
    if (has_etag(c, list_text_etag(reply)))
        return queue_not_modified(c, reply);
    struct MHD_Response *r = slices(reply, parts, 3);

    if (r) {
        (void)snprintf(count, sizeof count, "%zu", list_text_count(reply));
        header(r, "X-Total-Count", count);
        if (more[0])
            add_link(r, c, limit, more);
    }
    return queue_reply(c, reply, JSON_TYPE, r);
}

/* Adds a parameter to the target. False: it is full. */
static bool add_parameter(char *link, size_t size, const char *name, const char *value)
{
    size_t len = strlen(link);
    int n = snprintf(link + len, size - len, "%s%s=", strchr(link, '?') ? "&" : "?", name);

    if (n < 0 || (size_t)n >= size - len)
        return false;
    len += (size_t)n;
    return target_escape(value, strlen(value), link + len, size - len) == 0;
}

/* The target of the next page: the parameters that were given, and those that the reply has for it. False:
 * there is none, or it is too long. */
static bool next_target(const struct http_call *c, json_t *next, char *ret, size_t size)
{
    const struct target *t = &c->target;
    const char *name;
    json_t *value;
    char text[24];

    if (json_object_size(next) == 0 ||
        snprintf(ret, size, "%.*s", (int)strcspn(c->raw, "?"), c->raw) >= (int)size)
        return false;
    for (size_t i = 0; i < t->n_parameters; i++) {
        if (!json_object_get(next, t->parameters[i].name) &&
            !add_parameter(ret, size, t->parameters[i].name, t->parameters[i].value))
            return false;
    }
    json_object_foreach(next, name, value)
    {
        (void)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (!add_parameter(ret, size, name, text))
            return false;
    }
    return true;
}

static enum MHD_Result answer_paged(struct http_call *c, struct list_text *reply)
{
    struct shared_text *text = list_text_whole(reply);
    const struct iovec whole = {(void *)shared_text_bytes(text), shared_text_length(text)};
    const struct iovec raw = list_text_value(reply, "next");
    CLEANUP(json_decrefp) json_t *next = json_loadb(raw.iov_base ? raw.iov_base : "", raw.iov_len, 0, NULL);
    struct MHD_Response *r = slices(reply, &whole, 1);
    char target[LINK_SIZE];
    char link[LINK_SIZE + 16];

    if (r && next_target(c, next, target, sizeof target)) {
        (void)snprintf(link, sizeof link, "<%s>; rel=\"next\"", target);
        header(r, "Link", link);
    }
    return queue_reply(c, reply, JSON_TYPE, r);
}

static enum MHD_Result answer_item(struct http_call *c, struct list_text *reply)
{
    const char *item = route_value(&c->values, "{item}");
    struct iovec parts[2] = {{0}, {.iov_base = (void *)NEWLINE, .iov_len = 1}};

    if (!list_text_find(reply, item, &parts[0]))
        return answer_problem(c, PROBLEM_NOT_FOUND, "\"%.200s\": there is none of this id or name", item);
    if (has_etag(c, list_text_etag(reply)))
        return queue_not_modified(c, reply);
    return queue_reply(c, reply, JSON_TYPE, slices(reply, parts, 2));
}

enum MHD_Result answer_reply(struct http_call *c, struct list_text *reply)
{
    const char *type = c->route->type ? c->route->type : JSON_TYPE;
    struct iovec whole = {0};
    struct shared_text *text = NULL;

    /* a page or an element that is not there is not unmodified */
    if (c->route->kind == ROUTE_LIST)
        return answer_page(c, reply);
    if (c->route->kind == ROUTE_ITEM)
        return answer_item(c, reply);
    if (has_etag(c, list_text_etag(reply)))
        return queue_not_modified(c, reply);
    switch (c->route->kind) {
    case ROUTE_PAGED:
        return answer_paged(c, reply);
    case ROUTE_MEMBER:
        if (!(text = list_text_member(reply)))
            return answer_problem(c, PROBLEM_INTERNAL, "the reply has no \"%s\"", c->route->member);
        break;
    case ROUTE_LIST:
    case ROUTE_ITEM:
    case ROUTE_REQUEST:
    case ROUTE_STREAM:
    case ROUTE_CLUSTERS:
    case ROUTE_DESCRIPTION:
    case ROUTE_SESSION:
    case ROUTE_PAGE:
    case ROUTE_STATUS_PAGE:
    case ROUTE_STATUS_FORM:
    case ROUTE_REST:
    case ROUTE_REST_NEVER:
    case ROUTE_REST_LOGIN:
    case ROUTE_HEALTHY:
    case ROUTE_READY:
        text = list_text_whole(reply);
        break;
    }
    whole = (struct iovec){(void *)shared_text_bytes(text), shared_text_length(text)};
    return queue_reply(c, reply, type, slices(reply, &whole, 1));
}

/* ---- the dashboard ----------------------------------------------------------------------------- */

enum MHD_Result answer_page_file(struct http_call *c)
{
    const char *name = route_value(&c->values, "{name}");
    const struct page *f = pages_find(c->http->pages, name);

    if (!f)
        return answer_problem(c, PROBLEM_NOT_FOUND, "%s",
                              name ? "the dashboard has no such file"
                                   : "this service is installed without the dashboard; /status is a page "
                                     "without it, the API is below /api/v1");
    const bool has = has_etag(c, f->etag);
    struct MHD_Response *r =
        MHD_create_response_from_buffer(has ? 0 : f->size, f->bytes, MHD_RESPMEM_PERSISTENT);

    if (r)
        header(r, "ETag", f->etag);
    return queue_with(c, has ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, has ? NULL : f->type,
                      f->constant ? NEVER_CHANGES : CHANGES, PAGE, r);
}

/* The request, which is large, is done with: a stream may last for days. */
static void forget_request(struct http_call *c)
{
    free(c->request);
    c->request = NULL;
    shared_text_unref(c->reply);
    c->reply = NULL;
}

enum MHD_Result answer_stream(struct http_call *c, struct list_text *reply)
{
    const uint64_t after = c->request->after;
    const bool resumed = c->request->from_start;

    forget_request(c);
    return queue(
        c, MHD_HTTP_OK, STREAM_TYPE,
        stream_open(c->http->streams, c->connection, &c->credential, resumed ? &after : NULL, reply));
}
