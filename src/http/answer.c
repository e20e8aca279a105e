/* answer.c: answers: problem documents, and replies of the service, whole or in pages. */
#include "http/internal.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TYPE "application/json"
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
    header(r, "Referrer-Policy", "no-referrer");
    header(r, "Content-Security-Policy", policy);
    if (c->http->cert_file)
        header(r, "Strict-Transport-Security", "max-age=31536000");
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

enum MHD_Result answer_problem(struct http_call *c, enum problem p, const char *format, ...)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    char detail[DETAIL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    problem_write(p, detail, &out);
    struct MHD_Response *r = copied(out.text, out.len);

    if (p == PROBLEM_UNAUTHORIZED && r)
        header(r, "WWW-Authenticate", "Bearer realm=\"ballast\"");
    if ((p == PROBLEM_OVERLOADED || p == PROBLEM_ATTEMPTS) && r)
        header(r, "Retry-After", "1");
    return queue(c, problem_status(p), PROBLEM_TYPE, r);
}

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
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    char list[64];

    list_methods(methods, list, sizeof list);
    strbuf_init(&out, STRBUF_NO_LIMIT);
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
    const char *given = exchange_header(c, "If-None-Match");

    return c->method == HTTP_GET && given && (strcmp(given, "*") == 0 || strstr(given, etag));
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
    struct MHD_Response *r = slices(reply, parts, 3);

    if (r) {
        (void)snprintf(count, sizeof count, "%zu", list_text_count(reply));
        header(r, "X-Total-Count", count);
        if (more[0])
            add_link(r, c, limit, more);
    }
    return queue_reply(c, reply, JSON_TYPE, r);
}

static enum MHD_Result answer_item(struct http_call *c, struct list_text *reply)
{
    const char *item = route_value(&c->values, "{item}");
    struct iovec parts[2] = {{0}, {.iov_base = (void *)NEWLINE, .iov_len = 1}};

    if (!list_text_find(reply, item, &parts[0]))
        return answer_problem(c, PROBLEM_NOT_FOUND, "\"%.200s\": there is none of this id or name", item);
    return queue_reply(c, reply, JSON_TYPE, slices(reply, parts, 2));
}

enum MHD_Result answer_reply(struct http_call *c, struct list_text *reply)
{
    const char *type = c->route->type ? c->route->type : JSON_TYPE;
    struct iovec whole = {0};
    struct shared_text *text = NULL;

    if (has_etag(c, list_text_etag(reply)))
        return queue_not_modified(c, reply);
    switch (c->route->kind) {
    case ROUTE_LIST:
        return answer_page(c, reply);
    case ROUTE_ITEM:
        return answer_item(c, reply);
    case ROUTE_MEMBER:
        if (!(text = list_text_member(reply)))
            return answer_problem(c, PROBLEM_INTERNAL, "the reply has no \"%s\"", c->route->member);
        break;
    case ROUTE_REQUEST:
    case ROUTE_STREAM:
    case ROUTE_CLUSTERS:
    case ROUTE_PAGE:
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
        return answer_problem(
            c, PROBLEM_NOT_FOUND, "%s",
            name ? "the dashboard has no such file"
                 : "this service is installed without the dashboard; the API is below /api/v1");
    const bool has = has_etag(c, f->etag);
    struct MHD_Response *r =
        MHD_create_response_from_buffer(has ? 0 : f->size, f->bytes, MHD_RESPMEM_PERSISTENT);

    if (r)
        header(r, "ETag", f->etag);
    return queue_with(c, has ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, has ? NULL : f->type,
                      f->constant ? NEVER_CHANGES : CHANGES, PAGE, r);
}

enum MHD_Result answer_stream(struct http_call *c, struct list_text *reply)
{
    const bool resumed = c->request->from_start;

    return queue(c, MHD_HTTP_OK, STREAM_TYPE,
                 stream_open(c->http->streams, c->connection, resumed ? &c->request->after : NULL, reply));
}
