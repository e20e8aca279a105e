/* mqtt_feed.c: reads events from the store and states from the engine, and hands them to the MQTT thread. */
#include "daemon/mqtt/mqtt_feed.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/mqtt/mqtt_thread.h"
#include "daemon/mqtt/states.h"
#include "daemon/process.h"
#include "mqtt/cloudevent.h"
#include "mqtt/home_assistant.h"
#include "mqtt/topic.h"
#include "store/sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define NOTE_SENT "mqtt_sent"                /* note: the last event that the broker confirmed */
#define NOTE_DISCOVERY "mqtt_home_assistant" /* note: the prefix that Home Assistant was told of last */
#define QUEUED_EVENTS_MAX 128                /* events handed to the thread; the rest wait in the store */
#define CLIENT_ID_DIGITS 15 /* of the store's name; with "ballast-" 23 bytes, which every broker accepts */

struct mqtt_feed {
    struct store *store;
    struct arena arena; /* the strings below */
    const char *url, *instance;
    struct topics topics;
    struct strbuf source; /* of CloudEvents */
    struct broker_options options;
    struct mqtt_thread *thread;
    struct queue reports, received;
    sd_event_source *io;
    uint64_t last, handed, sent; /* events: the newest, the last handed to the thread, the last confirmed */
    struct mqtt_report report;   /* the thread's last report */
    uint64_t accepted, refused;  /* commands */
    instant_s since;
    bool mark_failed;                /* storing `sent` failed last time */
    bool feed_failed;                /* reading events failed last time */
    char *cluster;                   /* the cluster's state last handed over */
    struct idmap hosts;              /* host id -> state last handed over; "": none is retained */
    struct home_assistant assistant; /* prefix NULL: off */
    bool discovered;                 /* the cluster's message was handed over */
    const struct snapshot *seen;
    instant_s seen_time;
    int64_t began_us;
    uint64_t n_states;
};

/* ---- messages -------------------------------------------------------------------------------- */

static void write_cloudevent(const struct mqtt_feed *t, const char *id, const char *type, const char *subject,
                             instant_s time, const char *data, struct strbuf *out)
{
    const struct cloudevent ce = {
        .id = id, .source = t->source.text, .type = type, .subject = subject, .time = time, .data = data};

    cloudevent_json(&ce, out);
}

static void queue_event(struct mqtt_feed *t, const struct event_record *r)
{
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf payload = STRBUF_EMPTY;
    char id[64];

    (void)snprintf(id, sizeof id, "%.32s-%" PRIu64, t->instance, r->id);
    topic_event(&t->topics, r->kind, &topic);
    write_cloudevent(t, id, r->type, r->subject, r->time, r->data, &payload);
    mqtt_thread_publish_event(t->thread, r->id, topic.text, payload.text);
    t->handed = r->id;
}

/* States have no stored number: the start time of the process makes their ids unique. */
static void queue_state(struct mqtt_feed *t, const char *topic, const char *type, const char *subject,
                        const char *data, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf payload = STRBUF_EMPTY;
    char id[96];

    (void)snprintf(id, sizeof id, "%.32s-state-%" PRId64 "-%" PRIu64, t->instance, t->began_us,
                   ++t->n_states);
    write_cloudevent(t, id, type, subject, now, data, &payload);
    mqtt_thread_publish_state(t->thread, topic, payload.text);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void queue_stored_events(struct mqtt_feed *t)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct event_record *list = NULL;
    size_t n = 0;
    struct err err = {0};
    uint64_t out = t->handed - t->sent;

    if (t->handed >= t->last || out >= QUEUED_EVENTS_MAX)
        return;
    const struct event_query q = {.after = t->handed, .limit = (unsigned)(QUEUED_EVENTS_MAX - out)};

    int r = store_list_events(t->store, &q, &a, &list, &n, &err);

    if (r < 0 && !t->feed_failed)
        log_warning("mqtt: %s", err.text);
    t->feed_failed = r < 0;
    for (size_t i = 0; i < n; i++)
        queue_event(t, &list[i]);
}

/* When storing fails, the next answer tries again; a restart before that sends a few events twice. */
static void store_sent_mark(struct mqtt_feed *t)
{
    char text[24];
    struct err err = {0};

    (void)snprintf(text, sizeof text, "%" PRIu64, t->sent);
    int r = store_sqlite.put(t->store, &(struct record){RECORD_NOTE, .note = &(struct note){NOTE_SENT, text}},
                             &err);

    if (r < 0 && !t->mark_failed)
        log_warning("mqtt: the number of the last confirmed event was not stored: %s", err.text);
    t->mark_failed = r < 0;
}

static int on_mqtt_report(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct mqtt_feed *t = userdata;
    struct mqtt_report *n;
    uint64_t before = t->sent;

    (void)source, (void)fd, (void)revents;
    while ((n = (struct mqtt_report *)queue_pop(&t->reports)) != NULL) {
        if (n->connected != t->report.connected)
            t->since = (instant_s)time(NULL);
        t->report = *n;
        free(n);
    }
    if (t->report.over > t->sent)
        t->sent = t->report.over;
    if (t->handed < t->sent)
        t->handed = t->sent;
    if (t->sent != before)
        store_sent_mark(t);
    queue_stored_events(t);
    return 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void update_cluster_state(struct mqtt_feed *t, const struct engine *e, instant_s now)
{
    CLEANUP(strbuf_releasep) struct strbuf state = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;

    states_of_cluster(e, &state);
    if (t->cluster && strcmp(t->cluster, state.text) == 0)
        return;
    xstrset(&t->cluster, state.text);
    topic_cluster(&t->topics, &topic);
    queue_state(t, topic.text, "state", NULL, state.text, now);
}

struct retained_state {
    char *json;
    char *name; /* of the host, as Home Assistant was told; NULL: it was not */
    bool there; /* in the current list of hosts */
};

struct host_states_update {
    struct mqtt_feed *t;
    instant_s now;
};

static struct retained_state *retained_of(struct mqtt_feed *t, const char *host)
{
    return idmap_make(&t->hosts, host, sizeof(struct retained_state));
}

/* host NULL: of the cluster. name NULL: the device is gone. */
static void queue_discovery(struct mqtt_feed *t, const char *host, const char *name)
{
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;
    CLEANUP(strbuf_releasep) struct strbuf payload = STRBUF_EMPTY;

    home_assistant_topic(&t->assistant, host, &topic);
    if (name)
        home_assistant_config(&t->assistant, host, name, &payload);
    mqtt_thread_publish_state(t->thread, topic.text, name ? payload.text : "");
}

static void update_discovery(struct mqtt_feed *t)
{
    if (t->assistant.prefix && !t->discovered)
        queue_discovery(t, NULL, t->topics.cluster);
    t->discovered = true;
}

static void update_host_state(void *ctx, const char *host, const char *name, const char *json)
{
    const struct host_states_update *at = ctx;
    struct retained_state *retained = retained_of(at->t, host);
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;

    retained->there = true;
    if (at->t->assistant.prefix && (!retained->name || strcmp(retained->name, name) != 0)) {
        xstrset(&retained->name, name);
        queue_discovery(at->t, host, name);
    }
    if (retained->json && strcmp(retained->json, json) == 0)
        return;
    xstrset(&retained->json, json);
    topic_host(&at->t->topics, host, &topic);
    queue_state(at->t, topic.text, "host.state", host, json, at->now);
}

static void free_retained(void *value)
{
    struct retained_state *retained = value;

    free(retained->json);
    free(retained->name);
    free(retained);
}

/* Clears the retained state of a host that no longer exists. */
static bool clear_missing_host(const char *host, void *value, void *ctx)
{
    const struct host_states_update *const *at = ctx;
    struct mqtt_feed *t = (*at)->t;
    struct retained_state *retained = value;
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;

    if (retained->there) {
        retained->there = false;
        return true;
    }
    topic_host(&t->topics, host, &topic);
    mqtt_thread_publish_state(t->thread, topic.text, "");
    if (t->assistant.prefix)
        queue_discovery(t, host, NULL);
    free_retained(retained);
    return false;
}

static void update_host_states(struct mqtt_feed *t, const struct engine *e, instant_s now)
{
    const struct snapshot *s = engine_snapshot(e);
    struct host_states_update at = {t, now};
    struct host_states_update *ctx = &at;

    if (!s || (s == t->seen && s->time == t->seen_time))
        return;
    t->seen = s;
    t->seen_time = s->time;
    states_of_hosts(e, update_host_state, ctx);
    idmap_keep(&t->hosts, clear_missing_host, &ctx);
}

void mqtt_feed_update(struct mqtt_feed *t, const struct engine *e, uint64_t last, instant_s now)
{
    if (!t)
        return;
    t->last = last;
    queue_stored_events(t);
    update_discovery(t);
    update_cluster_state(t, e, now);
    update_host_states(t, e, now);
}

/* ---- status ---------------------------------------------------------------------------------- */

uint64_t mqtt_feed_sent(const struct mqtt_feed *t)
{
    return t ? t->sent : UINT64_MAX;
}

void mqtt_feed_skip(struct mqtt_feed *t, uint64_t id)
{
    if (!t || t->sent >= id)
        return;
    mqtt_thread_drop_events(t->thread, id);
    t->sent = id;
    if (t->handed < id)
        t->handed = id;
    store_sent_mark(t);
}

bool mqtt_feed_status(const struct mqtt_feed *t, uint64_t last, struct mqtt_status *ret)
{
    if (!t)
        return false;
    *ret = (struct mqtt_status){
        .url = t->url,
        .connected = t->report.connected,
        .since = t->since,
        .sent = t->sent,
        .unsent = last > t->sent ? last - t->sent : 0,
        .refused = t->report.refused,
        .kept = t->report.kept,
        .commands_accepted = t->accepted,
        .commands_refused = t->refused + t->report.dropped,
        .error = t->report.error.code != 0 ? t->report.error.text : NULL,
        .refusal = t->report.refusal.code != 0 ? t->report.refusal.text : NULL,
    };
    return true;
}

/* ---- commands -------------------------------------------------------------------------------- */

struct queue *mqtt_feed_received(struct mqtt_feed *t)
{
    return &t->received;
}

const struct topics *mqtt_feed_topics(const struct mqtt_feed *t)
{
    return &t->topics;
}

void mqtt_feed_listen(struct mqtt_feed *t, bool listen, bool pausable)
{
    mqtt_thread_listen(t->thread, listen);
    t->discovered = t->discovered && t->assistant.pausable == pausable;
    t->assistant.pausable = pausable;
}

void mqtt_feed_reply(struct mqtt_feed *t, const char *topic, const char *payload, const void *correlation,
                     size_t correlation_len, bool accepted)
{
    *(accepted ? &t->accepted : &t->refused) += 1;
    mqtt_thread_publish_reply(t->thread, topic, payload, correlation, correlation_len);
}

/* ---- start and stop -------------------------------------------------------------------------- */

/* Events from before the broker was first configured are not sent. */
static int load_sent_mark(struct mqtt_feed *t, struct err *err)
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
        store_sent_mark(t);
    return 0;
}

/* The broker may retain states of hosts from an earlier process; those of hosts that are gone are cleared. */
static int load_retained_hosts(struct mqtt_feed *t, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char **ids = NULL;
    size_t n = 0;
    int r = store_host_ids(t->store, &a, &ids, &n, err);

    for (size_t i = 0; r == 0 && i < n; i++)
        (void)retained_of(t, ids[i]);
    return r;
}

static bool clear_discovery(const char *host, void *value, void *ctx)
{
    struct mqtt_feed *const *t = ctx;

    (void)value;
    queue_discovery(*t, host, NULL);
    return true;
}

/* Home Assistant forgets the devices under another prefix, or all of them when this was switched off. */
static int replace_discovery(struct mqtt_feed *t, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *prefix = t->assistant.prefix;
    const char *former = NULL;
    int r = store_get_note(t->store, NOTE_DISCOVERY, &a, &former, err);

    if (r < 0 || (!former && !prefix) || (former && prefix && strcmp(former, prefix) == 0))
        return r;
    if (former) {
        t->assistant.prefix = former;
        queue_discovery(t, NULL, NULL);
        idmap_keep(&t->hosts, clear_discovery, &t);
        t->assistant.prefix = prefix;
    }
    const struct record note = {RECORD_NOTE, .note = &(struct note){NOTE_DISCOVERY, prefix}};

    return prefix ? store_sqlite.put(t->store, &note, err) : store_sqlite.forget(t->store, &note, err);
}

static void set_options(struct mqtt_feed *t, const struct config *c)
{
    const struct config_mqtt *m = &c->mqtt;
    CLEANUP(strbuf_releasep) struct strbuf online = STRBUF_EMPTY;

    t->url = arena_strdup(&t->arena, m->url);
    t->topics = (struct topics){arena_strdup(&t->arena, m->topic), arena_strdup(&t->arena, c->cluster)};
    t->assistant =
        (struct home_assistant){.prefix = arena_strdup(&t->arena, m->home_assistant), .topics = t->topics};
    strbuf_init(&t->source, STRBUF_NO_LIMIT);
    strbuf_puts(&t->source, "/ballast/");
    topic_level(c->cluster, &t->source);
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

static int start_feed(struct mqtt_feed *t, const struct config *c, sd_event *loop, struct err *err)
{
    int r;

    if ((r = store_instance(t->store, &t->arena, &t->instance, err)) < 0 ||
        (r = load_sent_mark(t, err)) < 0 || (r = load_retained_hosts(t, err)) < 0)
        return r;
    set_options(t, c);
    if ((r = queue_init(&t->reports, false)) < 0 || (r = queue_init(&t->received, false)) < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    if ((r = sd_event_add_io(loop, &t->io, t->reports.fd, EPOLLIN, on_mqtt_report, t)) < 0)
        return err_set(err, r, "cannot watch for reports of the MQTT thread: %s", strerror(-r));
    CLEANUP(strbuf_releasep) struct strbuf topic = STRBUF_EMPTY;

    topic_commands(&t->topics, &topic);
    const struct mqtt_thread_options options = {
        .broker = &t->options,
        .filters = {arena_strdup(&t->arena, topic.text), arena_printf(&t->arena, "%s/+", topic.text)},
        .reports = &t->reports,
        .received = &t->received};

    r = mqtt_thread_start(&options, &t->thread, err);
    return r == 0 ? replace_discovery(t, err) : r;
}

int mqtt_feed_start(const struct config *c, sd_event *loop, struct store *store, uint64_t last,
                    struct mqtt_feed **ret, struct err *err)
{
    struct mqtt_feed *t;
    int r;

    *ret = NULL;
    if (!c->mqtt.url)
        return store_sqlite.forget(
            store, &(struct record){RECORD_NOTE, .note = &(struct note){.key = NOTE_SENT}}, err);
    t = xcalloc(1, sizeof *t);
    t->store = store;
    t->reports.fd = t->received.fd = -1;
    t->last = last;
    t->since = (instant_s)time(NULL);
    t->began_us = clock_us(CLOCK_REALTIME);
    if ((r = start_feed(t, c, loop, err)) < 0) {
        mqtt_feed_free(t);
        return r;
    }
    *ret = t;
    return 0;
}

int mqtt_feed_stop(struct mqtt_feed *t, int64_t deadline_s)
{
    if (!t || !t->thread)
        return 0;
    int r = mqtt_thread_stop(t->thread, deadline_s);

    if (r == 0)
        (void)on_mqtt_report(NULL, -1, 0, t); /* the last confirmations */
    return r;
}

static void free_report(struct queue_item *item)
{
    free((struct mqtt_report *)item);
}

void mqtt_feed_free(struct mqtt_feed *t)
{
    if (!t)
        return;
    (void)sd_event_source_disable_unref(t->io);
    mqtt_thread_free(t->thread);
    if (t->reports.fd >= 0)
        queue_release(&t->reports, free_report);
    if (t->received.fd >= 0)
        queue_release(&t->received, mqtt_thread_received_free);
    idmap_release(&t->hosts, free_retained);
    strbuf_release(&t->source);
    free(t->cluster);
    arena_release(&t->arena);
    free(t);
}
