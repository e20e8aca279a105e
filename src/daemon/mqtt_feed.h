/* mqtt_feed.h: what a broker is told, and how far that is: the main thread's side of mqtt_thread.h.
 *
 * The store is the queue: events are read from it in their order, a handful at a time, and up to which one
 * the broker has them is stored as soon as it says so (the note `mqtt_sent`). A process that dies sends the
 * few again that were on their way; their CloudEvents ids are the same. */
#ifndef BALLAST_DAEMON_MQTT_FEED_H
#define BALLAST_DAEMON_MQTT_FEED_H

#include "config/config.h"
#include "engine/engine.h"
#include "store/events.h"

#include <systemd/sd-event.h>

struct mqtt_feed;

/* NULL where no broker is configured; what happens until there is one is not sent then. `last`: the newest
 * event's number. The configuration must live longer. */
int mqtt_feed_start(const struct config *c, sd_event *loop, struct store *store, uint64_t last,
                    struct mqtt_feed **ret, struct err *err);

/* Something has happened: passes on what there is, up to the event `last`. May be called at any time; t may
 * be NULL, here and below. */
void mqtt_feed_update(struct mqtt_feed *t, const struct engine *e, uint64_t last, instant_s now);

/* Up to which event the broker has them; UINT64_MAX where there is none. */
uint64_t mqtt_feed_sent(const struct mqtt_feed *t);

/* All events up to this one are not in the store any more. */
void mqtt_feed_skip(struct mqtt_feed *t, uint64_t id);

struct mqtt_status {
    const char *url;
    bool connected;
    instant_s since;     /* it is in this state */
    uint64_t sent;       /* up to which event the broker has them ... */
    uint64_t unsent;     /* ... and how many it has not */
    uint64_t refused;    /* messages that it did not want, since the start */
    const char *error;   /* why it is not connected; NULL */
    const char *refusal; /* the last one; NULL */
};

/* False: no broker is configured. Valid until mqtt_feed_update(). */
bool mqtt_feed_status(const struct mqtt_feed *t, uint64_t last, struct mqtt_status *ret);

/* As mqtt_thread_stop(). */
int mqtt_feed_stop(struct mqtt_feed *t, int64_t deadline_s);
void mqtt_feed_free(struct mqtt_feed *t);

#endif
