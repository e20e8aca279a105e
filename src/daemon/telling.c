#include "daemon/telling.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/process.h"
#include "daemon/states.h"
#include "daemon/teller.h"
#include "engine/idmap.h"
#include "engine/memory.h"
#include "mqtt/cloudevent.h"
#include "mqtt/topic.h"
#include "store/sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define NOTE_SENT "mqtt_sent" /* up to which event the broker has them */
#define AT_HAND 128           /* events that the thread has at most; the rest wait in the store */
#define CLIENT_ID_DIGITS 15   /* of the store's name: with "ballast-", the 23 bytes that every broker takes */

struct telling {
    struct store *store;
    struct arena arena; /* the strings below */
    const char *url, *instance;
    struct topics topics;
    struct strbuf source; /* of CloudEvents */
    struct broker_options options;
    struct teller *teller;
    struct queue told;
    sd_event_source *io;
    uint64_t last, handed, sent; /* events: there are, the thread was given, the broker has */
    struct told now;             /* how the thread is */
    instant_s since;
    bool mark_failed;   /* the last time that `sent` was to be stored */
    bool feed_failed;   /* the last time that events were to be read */
    char *cluster;      /* its state, as it was last passed on */
    struct idmap hosts; /* by id: the same; "" not known to be retained */
    const struct snapshot *seen;
    instant_s seen_time;
    int64_t began_us;
    uint64_t n_states;
};

/* ---- messages -------------------------------------------------------------------------------- */

static void envelope(const struct telling *t, const char *id, const char *type, const char *subject,
                     instant_s time, const char *data, struct strbuf *out)
{
    const struct cloudevent ce = {
        .id = id, .source = t->source.text, .type = type, .subject = subject, .time = time, .data = data};

    cloudevent_json(&ce, out);
}

static void give_event(struct telling *t, const struct event_record *r)
{
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};
    CLEANUP(strbuf_releasep) struct strbuf payload = {0};
    char id[64];

    strbuf_init(&topic, STRBUF_NO_LIMIT);
    strbuf_init(&payload, STRBUF_NO_LIMIT);
    (void)snprintf(id, sizeof id, "%.32s-%" PRIu64, t->instance, r->id);
    topic_event(&t->topics, r->kind, &topic);
    envelope(t, id, r->type, r->subject, r->time, r->data, &payload);
    teller_event(t->teller, r->id, topic.text, payload.text);
    t->handed = r->id;
}

/* A state has no number that lasts: the instant tells those of one process from those of another. */
static void give_state(struct telling *t, const char *topic, const char *type, const char *subject,
                       const char *data, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf payload = {0};
    char id[96];

    strbuf_init(&payload, STRBUF_NO_LIMIT);
    (void)snprintf(id, sizeof id, "%.32s-state-%" PRId64 "-%" PRIu64, t->instance, t->began_us,
                   ++t->n_states);
    envelope(t, id, type, subject, now, data, &payload);
    teller_state(t->teller, topic, payload.text);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void feed(struct telling *t)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct event_record *list = NULL;
    size_t n = 0;
    struct err err = {0};
    uint64_t out = t->handed - t->sent;

    if (t->handed >= t->last || out >= AT_HAND)
        return;
    const struct event_query q = {.after = t->handed, .limit = (unsigned)(AT_HAND - out)};

    int r = store_list_events(t->store, &q, &a, &list, &n, &err);

    if (r < 0 && !t->feed_failed)
        log_warning("mqtt: %s", err.text);
    t->feed_failed = r < 0;
    for (size_t i = 0; i < n; i++)
        give_event(t, &list[i]);
}

/* Should it not be stored, the next answer tries again; a restart before that sends a few events twice. */
static void remember(struct telling *t)
{
    char text[24];
    struct err err = {0};

    (void)snprintf(text, sizeof text, "%" PRIu64, t->sent);
    int r = store_sqlite.put_note(t->store, NOTE_SENT, text, &err);

    if (r < 0 && !t->mark_failed)
        log_warning("mqtt: up to which event the broker has them was not stored: %s", err.text);
    t->mark_failed = r < 0;
}

static int on_told(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct telling *t = userdata;
    struct told *n;
    uint64_t before = t->sent;

    (void)source, (void)fd, (void)revents;
    while ((n = (struct told *)queue_pop(&t->told)) != NULL) {
        if (n->connected != t->now.connected)
            t->since = (instant_s)time(NULL);
        t->now = *n;
        free(n);
    }
    if (t->now.over > t->sent)
        t->sent = t->now.over;
    if (t->handed < t->sent)
        t->handed = t->sent;
    if (t->sent != before)
        remember(t);
    feed(t);
    return 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void tell_cluster(struct telling *t, const struct engine *e, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf state = {0};
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};

    strbuf_init(&state, STRBUF_NO_LIMIT);
    strbuf_init(&topic, STRBUF_NO_LIMIT);
    state_of_cluster(e, &state);
    if (t->cluster && strcmp(t->cluster, state.text) == 0)
        return;
    xstrset(&t->cluster, state.text);
    topic_cluster(&t->topics, &topic);
    give_state(t, topic.text, "state", NULL, state.text, now);
}

struct host_state_kept {
    char *json;
    bool there; /* in the list that is gone through */
};

struct telling_at {
    struct telling *t;
    instant_s now;
};

static struct host_state_kept *kept_of(struct telling *t, const char *host)
{
    void **slot = idmap_slot(&t->hosts, host);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct host_state_kept));
    return *slot;
}

static void tell_host(void *ctx, const char *host, const char *json)
{
    const struct telling_at *at = ctx;
    struct host_state_kept *kept = kept_of(at->t, host);
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};

    kept->there = true;
    if (kept->json && strcmp(kept->json, json) == 0)
        return;
    xstrset(&kept->json, json);
    strbuf_init(&topic, STRBUF_NO_LIMIT);
    topic_host(&at->t->topics, host, &topic);
    give_state(at->t, topic.text, "host.state", host, json, at->now);
}

static void free_kept(void *value)
{
    struct host_state_kept *kept = value;

    free(kept->json);
    free(kept);
}

/* One that is gone is taken back from the broker. */
static bool keep_host(const char *host, void *value, void *ctx)
{
    const struct telling_at *const *at = ctx;
    struct telling *t = (*at)->t;
    struct host_state_kept *kept = value;
    CLEANUP(strbuf_releasep) struct strbuf topic = {0};

    if (kept->there) {
        kept->there = false;
        return true;
    }
    strbuf_init(&topic, STRBUF_NO_LIMIT);
    topic_host(&t->topics, host, &topic);
    teller_state(t->teller, topic.text, "");
    free_kept(kept);
    return false;
}

static void tell_hosts(struct telling *t, const struct engine *e, instant_s now)
{
    const struct snapshot *s = engine_snapshot(e);
    struct telling_at at = {t, now};
    struct telling_at *ctx = &at;

    if (!s || (s == t->seen && s->time == t->seen_time))
        return;
    t->seen = s;
    t->seen_time = s->time;
    states_of_hosts(e, tell_host, ctx);
    idmap_keep(&t->hosts, keep_host, &ctx);
}

void telling_go_on(struct telling *t, const struct engine *e, uint64_t last, instant_s now)
{
    if (!t)
        return;
    t->last = last;
    feed(t);
    tell_cluster(t, e, now);
    tell_hosts(t, e, now);
}

/* ---- what can be seen ------------------------------------------------------------------------ */

uint64_t telling_sent(const struct telling *t)
{
    return t ? t->sent : UINT64_MAX;
}

void telling_gone(struct telling *t, uint64_t id)
{
    if (!t || t->sent >= id)
        return;
    teller_drop(t->teller, id);
    t->sent = id;
    if (t->handed < id)
        t->handed = id;
    remember(t);
}

bool telling_look(const struct telling *t, uint64_t last, struct telling_status *ret)
{
    if (!t)
        return false;
    *ret = (struct telling_status){
        .url = t->url,
        .connected = t->now.connected,
        .since = t->since,
        .sent = t->sent,
        .unsent = last > t->sent ? last - t->sent : 0,
        .refused = t->now.refused,
        .error = t->now.error.code != 0 ? t->now.error.text : NULL,
        .refusal = t->now.refusal.code != 0 ? t->now.refusal.text : NULL,
    };
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* What happened before there was a broker to tell is not sent to it. */
static int recall_mark(struct telling *t, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *note = NULL;
    int r = store_get_note(t->store, NOTE_SENT, &a, &note, err);

    if (r < 0)
        return r;
    t->sent = note ? strtoull(note, NULL, 10) : t->last;
    if (t->sent > t->last)
        t->sent = t->last;
    t->handed = t->sent;
    if (!note)
        remember(t);
    return 0;
}

/* Of hosts that an earlier process knew something may be retained; what is not there any more goes. */
static int recall_hosts(struct telling *t, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char **ids = NULL;
    size_t n = 0;
    int r = store_host_ids(t->store, &a, &ids, &n, err);

    for (size_t i = 0; r == 0 && i < n; i++)
        (void)kept_of(t, ids[i]);
    return r;
}

static void set_options(struct telling *t, const struct config *c)
{
    const struct config_mqtt *m = &c->mqtt;
    CLEANUP(strbuf_releasep) struct strbuf online = {0};

    t->url = arena_strdup(&t->arena, m->url);
    t->topics = (struct topics){arena_strdup(&t->arena, m->topic), arena_strdup(&t->arena, c->cluster)};
    strbuf_init(&t->source, STRBUF_NO_LIMIT);
    strbuf_puts(&t->source, "/ballast/");
    topic_level(c->cluster, &t->source);
    strbuf_init(&online, STRBUF_NO_LIMIT);
    topic_online(&t->topics, &online);
    t->options = (struct broker_options){
        .host = m->host,
        .port = (int)m->port,
        .tls = m->tls,
        .tls_verify = m->tls_verify,
        .ca_file = m->ca_file,
        .cert_file = m->cert_file,
        .key_file = m->key_file,
        .username = m->username,
        .password = m->password,
        .client_id = m->client_id ? m->client_id
                                  : arena_printf(&t->arena, "ballast-%.*s", CLIENT_ID_DIGITS, t->instance),
        .online_topic = arena_strdup(&t->arena, online.text),
    };
}

static int start(struct telling *t, const struct config *c, sd_event *loop, struct err *err)
{
    int r;

    if ((r = store_instance(t->store, &t->arena, &t->instance, err)) < 0 || (r = recall_mark(t, err)) < 0 ||
        (r = recall_hosts(t, err)) < 0)
        return r;
    set_options(t, c);
    if ((r = queue_init(&t->told, false)) < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    if ((r = sd_event_add_io(loop, &t->io, t->told.fd, EPOLLIN, on_told, t)) < 0)
        return err_set(err, r, "the broker's thread cannot be waited for: %s", strerror(-r));
    return teller_start(&t->options, &t->told, &t->teller, err);
}

int telling_start(const struct config *c, sd_event *loop, struct store *store, uint64_t last,
                  struct telling **ret, struct err *err)
{
    struct telling *t;
    int r;

    *ret = NULL;
    if (!c->mqtt.url)
        return store_sqlite.put_note(store, NOTE_SENT, NULL, err);
    t = xcalloc(1, sizeof *t);
    t->store = store;
    t->told.fd = -1;
    t->last = last;
    t->since = (instant_s)time(NULL);
    t->began_us = read_clock_us(CLOCK_REALTIME);
    if ((r = start(t, c, loop, err)) < 0) {
        telling_free(t);
        return r;
    }
    *ret = t;
    return 0;
}

int telling_stop(struct telling *t, int64_t deadline_s)
{
    if (!t || !t->teller)
        return 0;
    int r = teller_stop(t->teller, deadline_s);

    if (r == 0)
        (void)on_told(NULL, -1, 0, t); /* what it has learned last */
    return r;
}

static void told_free(struct queue_item *item)
{
    free((struct told *)item);
}

void telling_free(struct telling *t)
{
    if (!t)
        return;
    (void)sd_event_source_disable_unref(t->io);
    teller_free(t->teller);
    if (t->told.fd >= 0)
        queue_release(&t->told, told_free);
    idmap_release(&t->hosts, free_kept);
    strbuf_release(&t->source);
    free(t->cluster);
    arena_release(&t->arena);
    free(t);
}
