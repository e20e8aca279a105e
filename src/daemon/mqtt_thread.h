/* mqtt_thread.h: the thread that talks to the broker (src/mqtt), so that the main one never waits for it.
 *
 * It is given events and states through a queue, and tells through another one how far it is. It connects,
 * and connects again, by itself. What it was given and the broker has not taken is lost with it: whoever
 * gives it events remembers up to which they are over. */
#ifndef BALLAST_DAEMON_MQTT_THREAD_H
#define BALLAST_DAEMON_MQTT_THREAD_H

#include "daemon/queue.h"
#include "mqtt/broker.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stdint.h>

struct mqtt_thread;

/* How it is. Sent whenever something of it has changed. */
struct mqtt_report {
    struct queue_item item;
    bool connected;
    uint64_t over;      /* all events up to this one were taken, or refused */
    uint64_t refused;   /* so many messages were refused so far */
    struct err error;   /* why it is not connected; code 0: nothing is wrong */
    struct err refusal; /* the last one; code 0: there was none */
};

/* Starts the thread. The options must live longer than it. `told` gets the news. */
int mqtt_thread_start(const struct broker_options *options, struct queue *reports, struct mqtt_thread **ret,
                      struct err *err);

/* Both copy; ids grow. payload "": what was retained there is taken back. */
void mqtt_thread_publish_event(struct mqtt_thread *t, uint64_t id, const char *topic, const char *payload);
void mqtt_thread_publish_state(struct mqtt_thread *t, const char *topic, const char *payload);

/* Those up to this one are dropped, unless they are on their way already. */
void mqtt_thread_drop_events(struct mqtt_thread *t, uint64_t id);

/* Tells the broker goodbye and ends, waiting until the deadline (CLOCK_REALTIME, seconds) at the longest;
 * -ETIMEDOUT: it still runs, so nothing that it uses may be freed. */
int mqtt_thread_stop(struct mqtt_thread *t, int64_t deadline_s);
void mqtt_thread_free(struct mqtt_thread *t); /* once it has stopped; NULL is fine */

#endif
