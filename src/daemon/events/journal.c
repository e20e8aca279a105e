/* journal.c: the engine's event sink: logs events, stores them, prunes old ones. Sending them is
 * mqtt_feed.c's. */
#include "daemon/events/journal.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/events/event_json.h"
#include "daemon/events/event_log.h"
#include "store/sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SLACK 16 /* the most events beyond the limit before the oldest are pruned, in one batch */
#define DAY_S (24 * 3600)

struct waiting {
    struct waiting *next;
    struct event_record r; /* owns its strings */
};

struct event_sink {
    struct store *store;
    struct waiting *first, *last; /* not stored yet */
    size_t n;
    uint64_t lost;           /* waiting events that were dropped */
    uint64_t put;            /* number of the last event that keep() stored */
    uint64_t oldest, newest; /* numbers of stored events */
    instant_s pruned;        /* by the engine, when this was last pruned by age */
};

int journal_open(struct store *store, struct event_sink **ret, struct err *err)
{
    struct event_sink *o = xcalloc(1, sizeof *o);
    int r = store_event_range(store, &o->oldest, &o->newest, err);

    if (r < 0) {
        free(o);
        return r;
    }
    o->store = store;
    *ret = o;
    return 0;
}

static void waiting_free(struct waiting *x)
{
    free((void *)(uintptr_t)x->r.type);
    free((void *)(uintptr_t)x->r.subject);
    free((void *)(uintptr_t)x->r.vm);
    free((void *)(uintptr_t)x->r.host);
    free((void *)(uintptr_t)x->r.to_host);
    free((void *)(uintptr_t)x->r.data);
    free(x);
}

static void drop_first(struct event_sink *o)
{
    struct waiting *x = o->first;

    o->first = x->next;
    if (!o->first)
        o->last = NULL;
    o->n--;
    waiting_free(x);
}

void journal_free(struct event_sink *o)
{
    if (!o)
        return;
    while (o->first)
        drop_first(o);
    free(o);
}

uint64_t journal_last(const struct event_sink *o)
{
    return o->newest;
}

/* ---- the event sink ------------------------------------------------------------------------------ */

static void journal_publish(struct event_sink *o, const struct event *ev)
{
    CLEANUP(strbuf_releasep) struct strbuf data = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf type = STRBUF_EMPTY;
    struct waiting *x = xcalloc(1, sizeof *x);

    event_log_write(ev);
    event_json_data(ev, &data);
    event_json_type(ev, &type);
    x->r = (struct event_record){
        .time = ev->time,
        .kind = event_kind_name(ev->kind),
        .type = xstrdup(type.text),
        .severity = event_log_severity(ev),
        .subject = xstrdup(event_json_subject(ev)),
        .vm = xstrdup(event_json_vm(ev)),
        .host = xstrdup(event_json_host(ev)),
        .to_host = xstrdup(event_json_to_host(ev)),
        .data = xstrdup(data.text),
    };
    if (o->last)
        o->last->next = x;
    else
        o->first = x;
    o->last = x;
    if (++o->n > JOURNAL_WAITING_MAX) {
        drop_first(o);
        o->lost++;
    }
}

/* from 0: dropped events had no numbers yet. */
static int put_gap(struct event_sink *o, uint64_t from, uint64_t n, const char *why, instant_s now,
                   struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf data = STRBUF_EMPTY;
    char text[160];

    (void)snprintf(text, sizeof text, "%" PRIu64 " event%s %s: %s", n, n == 1 ? "" : "s",
                   n == 1 ? "is missing" : "are missing", why);
    const struct event ev = {.kind = EVENT_GAP, .time = now, .text = text};

    event_log_write(&ev);
    event_json_gap(&ev, from, n, &data);
    const struct event_record r = {.time = now,
                                   .kind = event_kind_name(EVENT_GAP),
                                   .type = event_kind_name(EVENT_GAP),
                                   .severity = event_log_severity(&ev),
                                   .data = data.text};

    return store_put_event(o->store, &r, &o->put, err);
}

static int journal_keep(struct event_sink *o, struct err *err)
{
    int r = 0;

    if (o->lost > 0 && o->first)
        r = put_gap(o, 0, o->lost, "nothing could be stored for too long", o->first->r.time, err);
    for (struct waiting *x = o->first; r == 0 && x; x = x->next)
        r = store_put_event(o->store, &x->r, &o->put, err);
    return r;
}

static void journal_kept(struct event_sink *o)
{
    if (!o->first)
        return;
    while (o->first)
        drop_first(o);
    o->lost = 0;
    o->newest = o->put;
}

const struct event_sink_ops journal_sink = {
    .publish = journal_publish, .keep = journal_keep, .kept = journal_kept};

/* ---- what is not kept for ever --------------------------------------------------------------- */

static uint64_t later_id(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* One transaction, so that no pruned event lacks its EVENT_GAP. floor 0: prunes by age only. */
static int prune_events(struct event_sink *o, instant_s before, uint64_t sent, uint64_t floor, instant_s now,
                        struct err *err)
{
    const struct store_ops *ops = &store_sqlite;
    uint64_t from = later_id(sent, o->oldest - 1) + 1;
    uint64_t newest;
    int r = ops->begin(o->store, err);

    if (r < 0)
        return r;
    o->put = o->newest;
    if (sent < floor)
        r = put_gap(o, from, floor - from + 1, "there were too many that could not be sent", now, err);
    if (r == 0)
        r = store_prune_events(o->store, before, sent, floor, err);
    if (r < 0)
        ops->rollback(o->store);
    else
        r = ops->commit(o->store, err);
    if (r < 0)
        return r;
    o->newest = o->put;
    return store_event_range(o->store, &o->oldest, &newest, err);
}

uint64_t journal_prune(struct event_sink *o, int64_t days, int64_t most, uint64_t sent, instant_s pruned,
                       instant_s now)
{
    uint64_t n = o->newest + 1 - o->oldest;
    bool many = n > (uint64_t)(most + most / SLACK);
    bool aged = pruned != o->pruned;
    struct err err = {0};

    if ((!many && !aged) || o->first) /* waiting events are stored first */
        return o->oldest - 1;
    if (prune_events(o, aged ? now - days * DAY_S : 0, sent, many ? o->newest - (uint64_t)most : 0, now,
                     &err) < 0 &&
        aged)
        log_warning("%s", err.text);
    o->pruned = pruned;
    return o->oldest - 1;
}
