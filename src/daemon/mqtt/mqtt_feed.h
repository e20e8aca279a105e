/* mqtt_feed.h: feeds the MQTT thread (mqtt_thread.h) with events from the store and states from the engine.
 *
 * Events wait in the store while the broker is away, and are read from it in order, a few at a time. The
 * number of the last confirmed event is stored at once (the note `mqtt_sent`). After a crash unconfirmed
 * events are sent again, with the same CloudEvents ids. */
#ifndef BALLAST_DAEMON_MQTT_MQTT_FEED_H
#define BALLAST_DAEMON_MQTT_MQTT_FEED_H

#include "config/config.h"
#include "daemon/queue.h"
#include "engine/engine.h"
#include "mqtt/topic.h"
#include "store/events.h"

#include <systemd/sd-event.h>

struct mqtt_feed;

/* *ret is NULL without a broker in the configuration; events from that time are never sent. `last`: the
 * newest event's number. The configuration must outlive the feed. */
int mqtt_feed_start(const struct config *c, sd_event *loop, struct store *store, uint64_t last,
                    struct mqtt_feed **ret, struct err *err);

/* Hands over new events up to `last`, and changed states. May be called at any time; t may be NULL, here and
 * below. */
void mqtt_feed_update(struct mqtt_feed *t, const struct engine *e, uint64_t last, instant_s now);

/* The last event that the broker confirmed; UINT64_MAX without a broker. */
uint64_t mqtt_feed_sent(const struct mqtt_feed *t);

/* Events up to this one were pruned from the store. */
void mqtt_feed_skip(struct mqtt_feed *t, uint64_t id);

/* Commands (mqtt_commands.h): messages that came, as struct mqtt_thread_received of mqtt_thread.h; whether to
 * read them; an answer, of a command that was `accepted` or refused. t is not NULL. */
struct queue *mqtt_feed_received(struct mqtt_feed *t);
const struct topics *mqtt_feed_topics(const struct mqtt_feed *t);
void mqtt_feed_listen(struct mqtt_feed *t, bool listen,
                      bool pausable); /* pausable: pause and resume are taken */
void mqtt_feed_reply(struct mqtt_feed *t, const char *topic, const char *payload, const void *correlation,
                     size_t correlation_len, bool accepted);

struct mqtt_status {
    const char *url;
    bool connected;
    instant_s since;                              /* time of the last change of the state */
    uint64_t sent;                                /* the last event that the broker confirmed */
    uint64_t unsent;                              /* stored events after `sent` */
    uint64_t refused;                             /* messages that the broker refused since the start */
    uint64_t kept;                                /* of these, events that are sent again */
    uint64_t commands_accepted, commands_refused; /* since the start; refused: also what came too fast */
    const char *error;                            /* the error of the connection; NULL */
    const char *refusal;                          /* the last refusal; NULL */
};

/* False: no broker is configured. *ret is valid until mqtt_feed_update(). */
bool mqtt_feed_status(const struct mqtt_feed *t, uint64_t last, struct mqtt_status *ret);

/* As mqtt_thread_stop(). */
int mqtt_feed_stop(struct mqtt_feed *t, int64_t deadline_s);
void mqtt_feed_free(struct mqtt_feed *t);

#endif
