/* mqtt_thread.c: the thread that connects to the broker and publishes. It never touches engine or store. */
#include "daemon/mqtt_thread.h"

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

enum mqtt_command_kind { MQTT_PUBLISH_EVENT, MQTT_PUBLISH_STATE, MQTT_DROP_EVENTS, MQTT_STOP };

struct mqtt_command {
    struct queue_item item;
    enum mqtt_command_kind verb;
    uint64_t id;
    char *topic, *payload;
};

struct mqtt_thread {
    pthread_t thread;
    const struct broker_options *options;
    struct queue commands;
    struct queue *reports;

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
    bool changed;               /* the newest state is not reported yet */
};

static void free_command(struct queue_item *item)
{
    struct mqtt_command *o = (struct mqtt_command *)item;

    free(o->topic);
    free(o->payload);
    free(o);
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

static void on_answered(void *ctx, int mid, int reason)
{
    struct mqtt_thread *t = ctx;
    struct queued_message m;

    if (reason < REFUSED) {
        t->changed = inflight_acknowledge(t->queue, mid, &m) || t->changed;
        return;
    }
    size_t kept = inflight_refused_kept(t->queue);

    if (!inflight_refuse(t->queue, mid, clock_monotonic_s(), &m))
        return;
    t->changed = true;
    if (m.event == 0 || inflight_refused_kept(t->queue) > kept) /* the first refusal of this message */
        record_refusal(t, m.topic, broker_reason(reason), m.event != 0);
}

static const struct broker_handlers handlers = {.connected = on_connected, .answered = on_answered};

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

/* Until the window of unacknowledged messages is full. */
static void publish_inflight(struct mqtt_thread *t)
{
    struct queued_message m;
    struct err err = {0};
    static const int no_mid = -1;

    while (t->broker && t->up && inflight_next(t->queue, &m)) {
        bool state = m.event == 0;
        bool json = m.payload[0] == '{';
        int mid = 0;
        int r = broker_publish(t->broker, m.topic, m.payload, state, json ? CLOUDEVENT_CONTENT_TYPE : NULL,
                               &mid, &err);

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

static void take_commands(struct mqtt_thread *t)
{
    struct mqtt_command *o;

    while ((o = (struct mqtt_command *)queue_pop(&t->commands)) != NULL) {
        switch (o->verb) {
        case MQTT_PUBLISH_EVENT:
            inflight_add_event(t->queue, o->id, o->topic, o->payload);
            break;
        case MQTT_PUBLISH_STATE:
            inflight_set_state(t->queue, o->topic, o->payload);
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
        free_command(&o->item);
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
        .error = t->error,
        .refusal = t->refusal,
    };
    queue_push(t->reports, &n->item);
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
        take_commands(t);
        connect_if_due(t);
        retry_refused(t);
        publish_inflight(t);
        report_state(t);
        if (may_end(t))
            break;
        if (t->broker) {
            if (broker_step(t->broker, t->commands.fd, STEP_MS, &err) < 0)
                connection_lost(t, &err);
        } else {
            struct pollfd fd = {.fd = t->commands.fd, .events = POLLIN};

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

int mqtt_thread_start(const struct broker_options *options, struct queue *reports, struct mqtt_thread **ret,
                      struct err *err)
{
    struct mqtt_thread *t = xcalloc(1, sizeof *t);
    int r = queue_init(&t->commands, false);

    if (r < 0) {
        free(t);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    t->options = options;
    t->reports = reports;
    t->queue = inflight_new();
    inflight_set_state(t->queue, options->online_topic, "online");
    r = pthread_create(&t->thread, NULL, mqtt_thread_main, t);
    if (r != 0) {
        mqtt_thread_free(t);
        return err_set(err, -r, "cannot start the MQTT thread: %s", strerror(r));
    }
    *ret = t;
    return 0;
}

static void send_command(struct mqtt_thread *t, enum mqtt_command_kind verb, uint64_t id, const char *topic,
                         const char *payload)
{
    struct mqtt_command *o = xcalloc(1, sizeof *o);

    o->verb = verb;
    o->id = id;
    o->topic = xstrdup(topic);
    o->payload = xstrdup(payload);
    queue_push(&t->commands, &o->item);
}

void mqtt_thread_publish_event(struct mqtt_thread *t, uint64_t id, const char *topic, const char *payload)
{
    send_command(t, MQTT_PUBLISH_EVENT, id, topic, payload);
}

void mqtt_thread_publish_state(struct mqtt_thread *t, const char *topic, const char *payload)
{
    send_command(t, MQTT_PUBLISH_STATE, 0, topic, payload);
}

void mqtt_thread_drop_events(struct mqtt_thread *t, uint64_t id)
{
    send_command(t, MQTT_DROP_EVENTS, id, NULL, NULL);
}

int mqtt_thread_stop(struct mqtt_thread *t, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (!t)
        return 0;
    send_command(t, MQTT_STOP, 0, NULL, NULL);
    return pthread_timedjoin_np(t->thread, NULL, &until) == 0 ? 0 : -ETIMEDOUT;
}

void mqtt_thread_free(struct mqtt_thread *t)
{
    if (!t)
        return;
    queue_release(&t->commands, free_command);
    inflight_free(t->queue);
    idmap_release(&t->logged_topics, NULL);
    free(t);
}
