/* event_stream.c: sends stored events to clients that follow them. It stores nothing. */
#include "daemon/events/event_stream.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "daemon/events/event_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks tickets of followers, to distinguish them from other tickets. */
#define FOLLOWER ((uint64_t)1 << 62)
#define BATCH 100

struct follower {
    struct follower *next;
    uint64_t ticket;
    uint64_t after; /* the client has all events up to this one */
    instant_s since;
    char kind[REQUEST_KIND_MAX];
    char vm[REQUEST_NAME_MAX], host[REQUEST_NAME_MAX]; /* ids */
};

struct event_stream {
    struct store *store;
    struct follower *first;
    uint64_t last_ticket;
    uint64_t newest; /* number of the newest stored event */
    bool failed;     /* the last read from the store failed */
};

struct event_stream *event_stream_new(struct store *store)
{
    struct event_stream *f = xcalloc(1, sizeof *f);

    f->store = store;
    return f;
}

void event_stream_free(struct event_stream *f)
{
    if (!f)
        return;
    for (struct follower *x = f->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    free(f);
}

void event_stream_set_newest(struct event_stream *f, uint64_t newest)
{
    f->newest = newest;
}

bool event_stream_owns(uint64_t ticket)
{
    return (ticket & FOLLOWER) != 0;
}

static struct follower **place_of(struct event_stream *f, uint64_t ticket)
{
    struct follower **at = &f->first;

    while (*at && (*at)->ticket != ticket)
        at = &(*at)->next;
    return at;
}

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static struct event_query query_of(const struct request *q)
{
    return (struct event_query){
        .after = q->after,
        .since = q->since,
        .kind = text_or_null(q->event_kind),
        .vm = text_or_null(q->vm),
        .host = text_or_null(q->host),
        .limit = q->limit,
        .newest = q->after == 0 && q->since == 0 && !q->from_start,
    };
}

static void follow(struct event_stream *f, const struct request *q, struct client *c, uint64_t after)
{
    struct follower *x = xcalloc(1, sizeof *x);

    x->ticket = ++f->last_ticket | FOLLOWER;
    x->after = after;
    x->since = q->since;
    memcpy(x->kind, q->event_kind, sizeof x->kind);
    memcpy(x->vm, q->vm, sizeof x->vm);
    memcpy(x->host, q->host, sizeof x->host);
    x->next = f->first;
    f->first = x;
    client_wait(c, CLIENT_STAY_EVENTS, x->ticket);
}

int event_stream_serve(struct event_stream *f, const struct request *q, struct client *c, struct strbuf *out,
                       struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct event_query query = query_of(q);
    const bool paged = !q->follow && !query.newest;
    struct event_record *list = NULL;
    uint64_t first, last;
    uint64_t all = 0;
    size_t n = 0;
    int r;

    if (paged)
        query.limit++; /* to see whether there are more */
    if ((q->follow && (r = client_may_stay(c, CLIENT_STAY_EVENTS, err)) < 0) ||
        (r = store_list_events(f->store, &query, &a, &list, &n, err)) < 0 ||
        (r = store_event_range(f->store, &first, &last, err)) < 0 ||
        (query.newest && n == query.limit && (r = store_count_events(f->store, &query, &all, err)) < 0))
        return r;
    const bool more = paged && n > q->limit;

    if (more)
        n--;
    event_json_reply(list, n, all > n ? all - n : 0, more, out);
    if (!q->follow)
        return 0;
    /* older events were requested up to here, or do not exist */
    follow(f, q, c, n > 0 ? list[n - 1].id : query.newest ? last : q->after);
    client_stream(c, out);
    return -EINPROGRESS;
}

void event_stream_send(struct event_stream *f, struct client *c, uint64_t ticket)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    struct follower *x = *place_of(f, ticket);
    struct event_record *list = NULL;
    size_t n = 0;
    struct err err = {0};

    if (!x || x->after >= f->newest || !c->ops->took_all(c))
        return;
    const struct event_query q = {
        .after = x->after,
        .since = x->since,
        .kind = text_or_null(x->kind),
        .vm = text_or_null(x->vm),
        .host = text_or_null(x->host),
        .limit = BATCH,
    };
    int r = store_list_events(f->store, &q, &a, &list, &n, &err);

    if (r < 0 && !f->failed)
        log_warning("%s", err.text);
    f->failed = r < 0;
    if (r < 0)
        return;
    if (n < BATCH && x->after < f->newest)
        x->after = f->newest; /* the rest is not what the client asked for */
    if (n == 0)
        return;
    if (n == BATCH || list[n - 1].id > x->after)
        x->after = list[n - 1].id;
    event_json_reply(list, n, 0, false, &out);
    client_stream(c, &out);
}

void event_stream_drop(struct event_stream *f, uint64_t ticket)
{
    struct follower **at = place_of(f, ticket);
    struct follower *x = *at;

    if (!x)
        return;
    *at = x->next;
    free(x);
}
