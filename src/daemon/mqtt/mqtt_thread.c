/* mqtt_thread.c: the thread that connects to the broker and publishes. It never touches engine or store. */
#include "daemon/mqtt/mqtt_thread.h"

#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "mqtt/cloudevent.h"
#include "mqtt/inflight.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_MS 1000
#define RETRY_FIRST_S 1
#define RETRY_MAX_S 60
#define STEADY_S 30 /* a connection that lasted this long resets the retry interval */
#define GOODBYE_S 2 /* to publish remaining messages at the stop */
#define LOGGED_TOPICS_MAX 1000
#define REFUSED 128 /* reason codes from here on are refusals */
#define MS_PER_S 1000
#define REFUSED_RETRY_S 30  /* until a refused event is sent again */
#define REFUSED_KEPT_S 3600 /* after its first refusal */
#define JSON_TYPE "application/json"

enum mqtt_job_kind {
    MQTT_PUBLISH_EVENT,
    MQTT_PUBLISH_STATE,
    MQTT_PUBLISH_REPLY,
    MQTT_DROP_EVENTS,
    MQTT_LISTEN,
    MQTT_STOP
};

struct mqtt_job {
    struct queue_item item;
    enum mqtt_job_kind verb;
    uint64_t id; /* of an event; MQTT_LISTEN: whether to */
    char *topic, *payload;
    void *correlation; /* of a reply */
    size_t correlation_len;
};

struct mqtt_thread {
    pthread_t thread;
    struct mqtt_thread_options is;
    const struct broker_options *options;
    struct queue jobs;

    /* used by the thread only */
    struct inflight *queue;
    struct broker *broker;              /* NULL: not connected */
    bool up;                            /* the broker has accepted the connection */
    time_t up_since, retry_at, stop_at; /* CLOCK_MONOTONIC; stop_at 0: no stop requested */
    unsigned failures;                  /* in a row */
    uint64_t refused;
    time_t retry_refused_at; /* CLOCK_MONOTONIC */
    struct err error, refusal;
    struct idmap logged_topics; /* topics whose refusal was logged */
    bool listens;               /* for commands */
    time_t window;              /* CLOCK_MONOTONIC: commands are counted since then */
    unsigned in_window;
    uint64_t dropped; /* commands beyond the limit */
    bool changed;     /* the newest state is not reported yet */
};

static void free_job(struct queue_item *item)
{
    struct mqtt_job *o = (struct mqtt_job *)item;

    free(o->topic);
    free(o->payload);
    free(o->correlation);
    free(o);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* A copy of len bytes, with a NUL behind them. NULL: none. */
static void *copy_bytes(const void *bytes, size_t len)
{
    char *copy = bytes ? xcalloc(1, len + 1) : NULL;

    if (copy && len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

void mqtt_thread_received_free(struct queue_item *item)
{
    struct mqtt_thread_received *m = (struct mqtt_thread_received *)item;

    free((void *)(uintptr_t)m->message.topic);
    free((void *)(uintptr_t)m->message.payload);
    free((void *)(uintptr_t)m->message.response_topic);
    free((void *)(uintptr_t)m->message.correlation);
    free(m);
}

/* A flood costs the main thread nothing. It is logged once in each window. */
static bool is_too_fast(struct mqtt_thread *t)
{
    time_t now = clock_monotonic_s();

    if (now - t->window >= COMMAND_WINDOW_S) {
        t->window = now;
        t->in_window = 0;
    }
    if (++t->in_window <= COMMANDS_A_WINDOW)
        return false;
    if (t->in_window == COMMANDS_A_WINDOW + 1)
        log_warning("mqtt: more than %d commands within %d s: the rest is dropped without an answer",
                    COMMANDS_A_WINDOW, COMMAND_WINDOW_S);
    t->dropped++;
    t->changed = true;
    return true;
}

static void on_received(void *ctx, const struct command_message *m)
{
    struct mqtt_thread *t = ctx;

    if (!t->listens || is_too_fast(t))
        return;
    struct mqtt_thread_received *copy = xcalloc(1, sizeof *copy);

    copy->message = *m;
    copy->message.topic = xstrdup(m->topic);
    copy->message.payload = copy_bytes(m->payload, m->len);
    copy->message.response_topic = xstrdup(m->response_topic);
    copy->message.correlation = copy_bytes(m->correlation, m->correlation_len);
    queue_push(t->is.received, &copy->item);
}

/* ---- answers of the broker ------------------------------------------------------------------- */

static void on_connected(void *ctx)
{
    struct mqtt_thread *t = ctx;

    log_notice("mqtt: connected to %s:%d", t->options->host, t->options->port);
    t->up = true;
    t->up_since = clock_monotonic_s();
    t->error = (struct err){0};
    t->changed = true;
}

/* Logged once per topic. */
static void record_refusal(struct mqtt_thread *t, const char *topic, const char *why, bool again)
{
    t->refused++;
    (void)err_set(&t->refusal, -EPERM, "the broker refuses messages to %s: %s", topic, why);
    if (idmap_get(&t->logged_topics, topic) || t->logged_topics.n >= LOGGED_TOPICS_MAX)
        return;
    *idmap_slot(&t->logged_topics, topic) = t;
    log_error("mqtt: %s; %s", t->refusal.text,
              again ? "the event is kept and sent again for an hour" : "not sent again");
}

static void on_subscribed(void *ctx, int reason)
{
    struct mqtt_thread *t = ctx;

    if (reason < REFUSED)
        return;
    (void)err_set(&t->refusal, -EPERM, "the broker lets no commands be read from %s: %s", t->is.filters[0],
                  broker_reason(reason));
    log_error("mqtt: %s", t->refusal.text);
    t->changed = true;
}

static void on_answered(void *ctx, int mid, int reason)
{
    struct mqtt_thread *t = ctx;
    struct queued_message m;

    if (reason < REFUSED) {
        t->changed = inflight_acknowledge(t->queue, mid, &m) || t->changed;
        return;
    }
    size_t kept = inflight_refused_kept(t->queue);

    t->changed = true;
    if (!inflight_refuse(t->queue, mid, clock_monotonic_s(), &m)) {
        record_refusal(t, "the topic of an answer to a command", broker_reason(reason), false);
        return;
    }
    if (m.event == 0 || inflight_refused_kept(t->queue) > kept) /* the first refusal of this message */
        record_refusal(t, m.topic, broker_reason(reason), m.event != 0);
}

static const struct broker_handlers handlers = {
    .connected = on_connected, .answered = on_answered, .subscribed = on_subscribed, .received = on_received};

/* ---- the connection -------------------------------------------------------------------------- */

static time_t retry_pause_s(const struct mqtt_thread *t, int code)
{
    time_t pause = RETRY_FIRST_S;

    if (code == -EACCES || code == -EINVAL) /* not temporary; repeated attempts can lock the account */
        return RETRY_MAX_S;
    for (unsigned i = 1; i < t->failures && pause < RETRY_MAX_S; i++)
        pause *= 2;
    return pause < RETRY_MAX_S ? pause : RETRY_MAX_S;
}

/* Logs changes only: a broker may be away for hours. */
static void connection_lost(struct mqtt_thread *t, const struct err *why)
{
    bool good = t->up && clock_monotonic_s() - t->up_since >= STEADY_S;

    broker_free(t->broker);
    t->broker = NULL;
    t->failures = good ? 1 : t->failures + 1;
    t->retry_at = clock_monotonic_s() + retry_pause_s(t, why->code);
    inflight_connection_lost(t->queue);
    if (t->up || strcmp(t->error.text, why->text) != 0)
        log_warning("mqtt: %s; events are kept until the broker can be reached", why->text);
    t->up = false;
    t->error = *why;
    t->changed = true;
}

static void connect_if_due(struct mqtt_thread *t)
{
    struct err err = {0};

    if (t->broker || clock_monotonic_s() < t->retry_at || t->stop_at != 0)
        return;
    if (broker_connect(t->options, &handlers, t, &t->broker, &err) < 0)
        connection_lost(t, &err);
}

/* cloudevent.c begins each with its version. */
static const char *content_type(const char *payload)
{
    static const char cloudevent[] = "{\"specversion\"";

    if (payload[0] != '{')
        return NULL;
    return strncmp(payload, cloudevent, strlen(cloudevent)) == 0 ? CLOUDEVENT_CONTENT_TYPE : JSON_TYPE;
}

/* At once, and once: the client is gone with the connection. */
static void publish_reply(struct mqtt_thread *t, const struct mqtt_job *o)
{
    const struct broker_message m = {.topic = o->topic,
                                     .payload = o->payload,
                                     .content_type = JSON_TYPE,
                                     .correlation = o->correlation,
                                     .correlation_len = o->correlation_len};
    struct err err = {0};
    int mid = 0;

    if (!t->broker || !t->up)
        return;
    int r = broker_publish(t->broker, &m, &mid, &err);

    if (r == -EMSGSIZE || r == -EINVAL)
        record_refusal(t, o->topic, err.text, false);
    else if (r < 0)
        connection_lost(t, &err);
}

/* A connection begins without subscriptions. */
static void subscribe(struct mqtt_thread *t)
{
    struct err err = {0};
    int r = t->listens ? broker_subscribe(t->broker, t->is.filters, BROKER_FILTERS_MAX, &err)
                       : broker_unsubscribe(t->broker, t->is.filters, BROKER_FILTERS_MAX, &err);

    if (r < 0)
        connection_lost(t, &err);
}

static void listen_for_commands(struct mqtt_thread *t, bool listen)
{
    if (t->listens == listen)
        return;
    t->listens = listen;
    if (t->broker && t->up)
        subscribe(t);
}

/* Until the window of unacknowledged messages is full. */
static void publish_inflight(struct mqtt_thread *t)
{
    struct queued_message m;
    struct err err = {0};
    static const int no_mid = -1;

    while (t->broker && t->up && inflight_next(t->queue, &m)) {
        const struct broker_message message = {.topic = m.topic,
                                               .payload = m.payload,
                                               .content_type = content_type(m.payload),
                                               .retain = m.event == 0};
        int mid = 0;
        int r = broker_publish(t->broker, &message, &mid, &err);

        if (r == -EMSGSIZE || r == -EINVAL) { /* handled like a refusal */
            inflight_sent(t->queue, no_mid);
            (void)inflight_acknowledge(t->queue, no_mid, &m);
            record_refusal(t, m.topic, err.text, false);
            t->changed = true;
        } else if (r < 0) {
            connection_lost(t, &err);
        } else {
            inflight_sent(t->queue, mid);
        }
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void take_jobs(struct mqtt_thread *t)
{
    struct mqtt_job *o;

    while ((o = (struct mqtt_job *)queue_pop(&t->jobs)) != NULL) {
        switch (o->verb) {
        case MQTT_PUBLISH_EVENT:
            inflight_add_event(t->queue, o->id, o->topic, o->payload);
            break;
        case MQTT_PUBLISH_STATE:
            inflight_set_state(t->queue, o->topic, o->payload);
            break;
        case MQTT_PUBLISH_REPLY:
            publish_reply(t, o);
            break;
        case MQTT_LISTEN:
            listen_for_commands(t, o->id != 0);
            break;
        case MQTT_DROP_EVENTS:
            inflight_drop_events(t->queue, o->id);
            t->changed = true;
            break;
        case MQTT_STOP:
            t->stop_at = clock_monotonic_s() + GOODBYE_S;
            inflight_set_state(t->queue, t->options->online_topic, "offline");
            break;
        }
        free_job(&o->item);
    }
}

/* An admin may give the service the right meanwhile. */
static void retry_refused(struct mqtt_thread *t)
{
    time_t now = clock_monotonic_s();

    if (now < t->retry_refused_at || inflight_refused_kept(t->queue) == 0)
        return;
    t->retry_refused_at = now + REFUSED_RETRY_S;
    size_t lost = inflight_give_up_refused(t->queue, now - REFUSED_KEPT_S);

    if (lost > 0)
        log_error("mqtt: %zu event%s that the broker refused for an hour will not be sent: %s", lost,
                  lost == 1 ? "" : "s", t->refusal.text);
    inflight_retry_refused(t->queue);
    t->changed = true;
}

static void report_state(struct mqtt_thread *t)
{
    if (!t->changed)
        return;
    struct mqtt_report *n = xcalloc(1, sizeof *n);

    *n = (struct mqtt_report){
        .connected = t->up,
        .over = inflight_last_done(t->queue),
        .refused = t->refused,
        .kept = inflight_refused_kept(t->queue),
        .dropped = t->dropped,
        .error = t->error,
        .refusal = t->refusal,
    };
    queue_push(t->is.reports, &n->item);
    t->changed = false;
}

static int wait_ms(const struct mqtt_thread *t)
{
    time_t now = clock_monotonic_s();

    if (t->broker || t->stop_at != 0 || t->retry_at <= now)
        return STEP_MS;
    return (int)(t->retry_at - now) * MS_PER_S;
}

static bool all_published(const struct mqtt_thread *t)
{
    return inflight_events(t->queue) == 0 && inflight_unacknowledged(t->queue) == 0;
}

static bool may_end(const struct mqtt_thread *t)
{
    if (t->stop_at == 0)
        return false;
    return !t->up || clock_monotonic_s() > t->stop_at || all_published(t);
}

static void *mqtt_thread_main(void *arg)
{
    struct mqtt_thread *t = arg;
    struct err err = {0};

    for (;;) {
        take_jobs(t);
        connect_if_due(t);
        retry_refused(t);
        publish_inflight(t);
        report_state(t);
        if (may_end(t))
            break;
        if (t->broker) {
            bool was_up = t->up;

            if (broker_step(t->broker, t->jobs.fd, STEP_MS, &err) < 0)
                connection_lost(t, &err);
            else if (t->up && !was_up && t->listens)
                subscribe(t);
        } else {
            struct pollfd fd = {.fd = t->jobs.fd, .events = POLLIN};

            (void)poll(&fd, 1, wait_ms(t));
        }
    }
    if (t->broker) /* without "offline" published, let the broker send the last will */
        broker_disconnect(t->broker, !all_published(t));
    broker_free(t->broker);
    t->broker = NULL;
    return NULL;
}

/* ---- the main thread's side ------------------------------------------------------------------ */

int mqtt_thread_start(const struct mqtt_thread_options *options, struct mqtt_thread **ret, struct err *err)
{
    struct mqtt_thread *t = xcalloc(1, sizeof *t);
    int r = queue_init(&t->jobs, false);

    if (r < 0) {
        free(t);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    t->is = *options;
    t->options = options->broker;
    t->queue = inflight_new();
    inflight_set_state(t->queue, t->options->online_topic, "online");
    r = pthread_create(&t->thread, NULL, mqtt_thread_main, t);
    if (r != 0) {
        mqtt_thread_free(t);
        return err_set(err, -r, "cannot start the MQTT thread: %s", strerror(r));
    }
    *ret = t;
    return 0;
}

static struct mqtt_job *job_new(enum mqtt_job_kind verb, uint64_t id, const char *topic, const char *payload)
{
    struct mqtt_job *o = xcalloc(1, sizeof *o);

    o->verb = verb;
    o->id = id;
    o->topic = xstrdup(topic);
    o->payload = xstrdup(payload);
    return o;
}

static void send_job(struct mqtt_thread *t, enum mqtt_job_kind verb, uint64_t id, const char *topic,
                     const char *payload)
{
    queue_push(&t->jobs, &job_new(verb, id, topic, payload)->item);
}

void mqtt_thread_publish_event(struct mqtt_thread *t, uint64_t id, const char *topic, const char *payload)
{
    send_job(t, MQTT_PUBLISH_EVENT, id, topic, payload);
}

void mqtt_thread_publish_state(struct mqtt_thread *t, const char *topic, const char *payload)
{
    send_job(t, MQTT_PUBLISH_STATE, 0, topic, payload);
}

void mqtt_thread_publish_reply(struct mqtt_thread *t, const char *topic, const char *payload,
                               const void *correlation, size_t correlation_len)
{
    struct mqtt_job *o = job_new(MQTT_PUBLISH_REPLY, 0, topic, payload);

    o->correlation = copy_bytes(correlation, correlation_len);
    o->correlation_len = correlation_len;
    queue_push(&t->jobs, &o->item);
}

void mqtt_thread_listen(struct mqtt_thread *t, bool listen)
{
    send_job(t, MQTT_LISTEN, listen, NULL, NULL);
}

void mqtt_thread_drop_events(struct mqtt_thread *t, uint64_t id)
{
    send_job(t, MQTT_DROP_EVENTS, id, NULL, NULL);
}

int mqtt_thread_stop(struct mqtt_thread *t, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (!t)
        return 0;
    send_job(t, MQTT_STOP, 0, NULL, NULL);
    return pthread_timedjoin_np(t->thread, NULL, &until) == 0 ? 0 : -ETIMEDOUT;
}

void mqtt_thread_free(struct mqtt_thread *t)
{
    if (!t)
        return;
    queue_release(&t->jobs, free_job);
    inflight_free(t->queue);
    idmap_release(&t->logged_topics, NULL);
    free(t);
}
