#include "daemon/teller.h"

#include "base/log.h"
#include "engine/idmap.h"
#include "engine/memory.h"
#include "mqtt/cloudevent.h"
#include "mqtt/outbox.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP_MS 1000
#define RETRY_FIRST_S 1
#define RETRY_MAX_S 60
#define STEADY_S 30 /* a connection that has lasted so long was a good one */
#define GOODBYE_S 2 /* to get the last words across */
#define TOPICS_SAID_MAX 1000
#define REFUSED 128 /* reasons from here on are refusals */
#define MS_PER_S 1000

enum teller_verb { TELL_EVENT, TELL_STATE, TELL_DROP, TELL_STOP };

struct teller_order {
    struct queue_item item;
    enum teller_verb verb;
    uint64_t id;
    char *topic, *payload;
};

struct teller {
    pthread_t thread;
    const struct broker_options *options;
    struct queue orders;
    struct queue *told;

    /* the thread's own */
    struct outbox *outbox;
    struct broker *broker;              /* NULL: there is no connection */
    bool up;                            /* it was accepted */
    time_t up_since, retry_at, stop_at; /* CLOCK_MONOTONIC; stop_at 0: not asked to */
    unsigned failures;                  /* in a row */
    uint64_t refused;
    struct err error, refusal;
    struct idmap said; /* topics whose refusal was logged */
    bool news;
};

static time_t steady_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void order_free(struct queue_item *item)
{
    struct teller_order *o = (struct teller_order *)item;

    free(o->topic);
    free(o->payload);
    free(o);
}

/* ---- what the broker says -------------------------------------------------------------------- */

static void on_connected(void *ctx)
{
    struct teller *t = ctx;

    log_notice("mqtt: connected to %s:%d", t->options->host, t->options->port);
    t->up = true;
    t->up_since = steady_s();
    t->error = (struct err){0};
    t->news = true;
}

/* For each topic once: whoever may not write there once may not a thousand times. */
static void was_refused(struct teller *t, const char *topic, const char *why)
{
    t->refused++;
    (void)err_set(&t->refusal, -EPERM, "the broker refuses what is published to %s: %s", topic, why);
    if (idmap_get(&t->said, topic) || t->said.n >= TOPICS_SAID_MAX)
        return;
    *idmap_slot(&t->said, topic) = t;
    log_error("mqtt: %s; it is not sent again", t->refusal.text);
}

static void on_answered(void *ctx, int mid, int reason)
{
    struct teller *t = ctx;
    struct outbox_message m;

    if (!outbox_answered(t->outbox, mid, &m))
        return;
    t->news = true;
    if (reason >= REFUSED)
        was_refused(t, m.topic, broker_reason(reason));
}

static const struct broker_handlers handlers = {.connected = on_connected, .answered = on_answered};

/* ---- the connection -------------------------------------------------------------------------- */

static time_t pause_s(const struct teller *t, int code)
{
    time_t pause = RETRY_FIRST_S;

    if (code == -EACCES || code == -EINVAL) /* not by itself better soon; accounts get locked */
        return RETRY_MAX_S;
    for (unsigned i = 1; i < t->failures && pause < RETRY_MAX_S; i++)
        pause *= 2;
    return pause < RETRY_MAX_S ? pause : RETRY_MAX_S;
}

/* Said when it is news: a broker may be away for hours. */
static void lose(struct teller *t, const struct err *why)
{
    bool good = t->up && steady_s() - t->up_since >= STEADY_S;

    broker_free(t->broker);
    t->broker = NULL;
    t->failures = good ? 1 : t->failures + 1;
    t->retry_at = steady_s() + pause_s(t, why->code);
    outbox_lost(t->outbox);
    if (t->up || strcmp(t->error.text, why->text) != 0)
        log_warning("mqtt: %s; events are kept until it can be", why->text);
    t->up = false;
    t->error = *why;
    t->news = true;
}

static void connect_if_due(struct teller *t)
{
    struct err err = {0};

    if (t->broker || steady_s() < t->retry_at || t->stop_at != 0)
        return;
    if (broker_connect(t->options, &handlers, t, &t->broker, &err) < 0)
        lose(t, &err);
}

/* As much as the window takes. */
static void publish(struct teller *t)
{
    struct outbox_message m;
    struct err err = {0};
    static const int no_mid = -1;

    while (t->broker && t->up && outbox_next(t->outbox, &m)) {
        bool state = m.event == 0;
        bool json = m.payload[0] == '{';
        int mid = 0;
        int r = broker_publish(t->broker, m.topic, m.payload, state, json ? CLOUDEVENT_CONTENT_TYPE : NULL,
                               &mid, &err);

        if (r == -EMSGSIZE || r == -EINVAL) { /* as if the broker had said so */
            outbox_sent(t->outbox, no_mid);
            (void)outbox_answered(t->outbox, no_mid, &m);
            was_refused(t, m.topic, err.text);
            t->news = true;
        } else if (r < 0) {
            lose(t, &err);
        } else {
            outbox_sent(t->outbox, mid);
        }
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void take_orders(struct teller *t)
{
    struct teller_order *o;

    while ((o = (struct teller_order *)queue_pop(&t->orders)) != NULL) {
        switch (o->verb) {
        case TELL_EVENT:
            outbox_add_event(t->outbox, o->id, o->topic, o->payload);
            break;
        case TELL_STATE:
            outbox_set_state(t->outbox, o->topic, o->payload);
            break;
        case TELL_DROP:
            outbox_drop(t->outbox, o->id);
            t->news = true;
            break;
        case TELL_STOP:
            t->stop_at = steady_s() + GOODBYE_S;
            outbox_set_state(t->outbox, t->options->online_topic, "offline");
            break;
        }
        order_free(&o->item);
    }
}

static void say_how_it_is(struct teller *t)
{
    if (!t->news)
        return;
    struct told *n = xcalloc(1, sizeof *n);

    *n = (struct told){
        .connected = t->up,
        .over = outbox_over(t->outbox),
        .refused = t->refused,
        .error = t->error,
        .refusal = t->refusal,
    };
    queue_push(t->told, &n->item);
    t->news = false;
}

static int wait_ms(const struct teller *t)
{
    time_t now = steady_s();

    if (t->broker || t->stop_at != 0 || t->retry_at <= now)
        return STEP_MS;
    return (int)(t->retry_at - now) * MS_PER_S;
}

static bool all_is_said(const struct teller *t)
{
    return outbox_events(t->outbox) == 0 && outbox_unanswered(t->outbox) == 0;
}

static bool has_ended(const struct teller *t)
{
    if (t->stop_at == 0)
        return false;
    return !t->up || steady_s() > t->stop_at || all_is_said(t);
}

static void *teller_main(void *arg)
{
    struct teller *t = arg;
    struct err err = {0};

    for (;;) {
        take_orders(t);
        connect_if_due(t);
        publish(t);
        say_how_it_is(t);
        if (has_ended(t))
            break;
        if (t->broker) {
            if (broker_step(t->broker, t->orders.fd, STEP_MS, &err) < 0)
                lose(t, &err);
        } else {
            struct pollfd fd = {.fd = t->orders.fd, .events = POLLIN};

            (void)poll(&fd, 1, wait_ms(t));
        }
    }
    if (t->broker) /* "offline" may not have got through, or may not even have been sent */
        broker_disconnect(t->broker, !all_is_said(t));
    broker_free(t->broker);
    t->broker = NULL;
    return NULL;
}

/* ---- the main thread's side ------------------------------------------------------------------ */

int teller_start(const struct broker_options *options, struct queue *told, struct teller **ret,
                 struct err *err)
{
    struct teller *t = xcalloc(1, sizeof *t);
    int r = queue_init(&t->orders, false);

    if (r < 0) {
        free(t);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    t->options = options;
    t->told = told;
    t->outbox = outbox_new();
    outbox_set_state(t->outbox, options->online_topic, "online");
    r = pthread_create(&t->thread, NULL, teller_main, t);
    if (r != 0) {
        teller_free(t);
        return err_set(err, -r, "no thread to talk to the broker with: %s", strerror(r));
    }
    *ret = t;
    return 0;
}

static void give(struct teller *t, enum teller_verb verb, uint64_t id, const char *topic, const char *payload)
{
    struct teller_order *o = xcalloc(1, sizeof *o);

    o->verb = verb;
    o->id = id;
    o->topic = xstrdup(topic);
    o->payload = xstrdup(payload);
    queue_push(&t->orders, &o->item);
}

void teller_event(struct teller *t, uint64_t id, const char *topic, const char *payload)
{
    give(t, TELL_EVENT, id, topic, payload);
}

void teller_state(struct teller *t, const char *topic, const char *payload)
{
    give(t, TELL_STATE, 0, topic, payload);
}

void teller_drop(struct teller *t, uint64_t id)
{
    give(t, TELL_DROP, id, NULL, NULL);
}

int teller_stop(struct teller *t, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (!t)
        return 0;
    give(t, TELL_STOP, 0, NULL, NULL);
    return pthread_timedjoin_np(t->thread, NULL, &until) == 0 ? 0 : -ETIMEDOUT;
}

void teller_free(struct teller *t)
{
    if (!t)
        return;
    queue_release(&t->orders, order_free);
    outbox_free(t->outbox);
    idmap_release(&t->said, NULL);
    free(t);
}
