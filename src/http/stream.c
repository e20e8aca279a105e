/* stream.c: server-sent events. Reading the store is the main thread's. */
#include "http/stream.h"

#include "base/strbuf.h"
#include "base/xalloc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEPT 1000 /* events */
#define SILENT_S 15
#define BLOCK 16384
#define RETRY "retry: 2000\n\n" /* milliseconds until a client comes back */

struct kept_event {
    uint64_t id;
    char *json;
};

struct stream {
    struct stream *next;
    struct streams *all;
    struct MHD_Connection *connection;
    uint64_t after; /* it has all events up to this one */
    struct strbuf out;
    size_t out_done;
    time_t sent; /* last */
    struct credential credential;
    bool suspended;
    bool over; /* its credentials do not last */
};

struct streams {
    pthread_mutex_t lock;
    struct kept_event ring[KEPT];
    size_t first, n;
    uint64_t newest;
    struct stream *list;
    bool stopping;
};

struct streams *stream_all_new(void)
{
    struct streams *s = xcalloc(1, sizeof *s);

    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

void stream_all_free(struct streams *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < KEPT; i++)
        free(s->ring[i].json);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

static void put_event(struct strbuf *out, uint64_t id, const char *json, size_t len)
{
    strbuf_printf(out, "id: %llu\ndata: ", (unsigned long long)id);
    strbuf_add(out, json, len);
    strbuf_puts(out, "\n\n");
}

/* ---- the main thread's side -------------------------------------------------------------------- */

/* Under the lock. A thread of HTTP goes on with the stream. */
static void wake(struct stream *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    MHD_resume_connection(x->connection);
}

static void wake_all(struct streams *s)
{
    for (struct stream *x = s->list; x; x = x->next)
        wake(x);
}

void stream_all_set_newest(struct streams *s, uint64_t newest)
{
    (void)pthread_mutex_lock(&s->lock);
    s->newest = newest;
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_add_event(struct streams *s, uint64_t id, const char *json)
{
    (void)pthread_mutex_lock(&s->lock);
    struct kept_event *place = &s->ring[(s->first + s->n) % KEPT];

    if (s->n == KEPT)
        s->first = (s->first + 1) % KEPT;
    else
        s->n++;
    xstrset(&place->json, json);
    place->id = s->newest = id;
    wake_all(s);
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_all_tick(struct streams *s)
{
    const time_t now = time(NULL);

    (void)pthread_mutex_lock(&s->lock);
    for (struct stream *x = s->list; x; x = x->next) {
        if (x->suspended && x->sent + SILENT_S <= now) {
            strbuf_puts(&x->out, ":\n\n");
            wake(x);
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_all_check(struct streams *s, stream_lasts_fn lasts, void *ctx)
{
    (void)pthread_mutex_lock(&s->lock);
    for (struct stream *x = s->list; x; x = x->next) {
        if (!x->over && !lasts(ctx, &x->credential)) {
            x->over = true;
            wake(x);
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_all_stop(struct streams *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->stopping = true;
    wake_all(s);
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- a stream ---------------------------------------------------------------------------------- */

/* The kept events behind the stream's last one. False: there are some that are not kept any more. */
static bool take_events(struct stream *x)
{
    const struct streams *s = x->all;

    if (x->after >= s->newest)
        return true;
    if (s->n == 0 || s->ring[s->first].id > x->after + 1)
        return false;
    for (size_t i = 0; i < s->n && x->out.len < BLOCK; i++) {
        const struct kept_event *e = &s->ring[(s->first + i) % KEPT];

        if (e->id > x->after) {
            put_event(&x->out, e->id, e->json, strlen(e->json));
            x->after = e->id;
        }
    }
    return true;
}

static ssize_t read_stream(void *stream, uint64_t position, char *to, size_t size)
{
    struct stream *x = stream;
    struct streams *s = x->all;
    ssize_t n = 0;

    (void)position;
    (void)pthread_mutex_lock(&s->lock);
    if (x->out_done == x->out.len) {
        strbuf_clear(&x->out);
        x->out_done = 0;
    }
    if (s->stopping || x->over || (x->out.len == 0 && !take_events(x))) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (x->out.len == 0) {
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    } else {
        n = (ssize_t)(x->out.len - x->out_done < size ? x->out.len - x->out_done : size);
        memcpy(to, x->out.text + x->out_done, (size_t)n);
        x->out_done += (size_t)n;
        x->sent = time(NULL);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

static void end_stream(void *stream)
{
    struct stream *x = stream;
    struct streams *s = x->all;
    struct stream **at = &s->list;

    (void)pthread_mutex_lock(&s->lock);
    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
    (void)pthread_mutex_unlock(&s->lock);
    strbuf_release(&x->out);
    free(x);
}

static void put_first(struct stream *x, struct list_text *first)
{
    for (size_t i = 0; i < list_text_count(first); i++) {
        struct iovec json;
        const uint64_t id = list_text_element(first, i, &json);

        put_event(&x->out, id, json.iov_base, json.iov_len);
        x->after = id;
    }
}

struct MHD_Response *stream_open(struct streams *s, struct MHD_Connection *connection,
                                 const struct credential *credential, const uint64_t *after,
                                 struct list_text *first)
{
    struct stream *x = xcalloc(1, sizeof *x);
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, x, end_stream);

    x->all = s;
    x->connection = connection;
    x->credential = *credential;
    strbuf_init(&x->out, STRBUF_NO_LIMIT);
    strbuf_puts(&x->out, RETRY);
    (void)pthread_mutex_lock(&s->lock);
    x->after = after && *after < s->newest ? *after : s->newest;
    if (first)
        put_first(x, first);
    x->sent = time(NULL);
    if (r) {
        x->next = s->list;
        s->list = x;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (!r)
        end_stream(x);
    return r;
}
