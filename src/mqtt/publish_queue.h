/* publish_queue.h: what is on its way to the broker: in order, bounded, and again where an answer got lost.
 *
 * Two sorts of messages. Events have ids that grow; each is sent once it is its turn, at most PUBLISH_WINDOW
 * are without an answer at a time, and what is behind them waits. States are retained by the broker: only the
 * newest of each topic counts, so a newer one takes the place of an older one that was not sent yet, and all
 * of them are sent again with each connection, since the broker may have lost them.
 *
 * A connection that ends takes the broker's answers with it: what was sent and not answered is sent again, in
 * the old order, before anything else. That is what "at least once" comes to.
 *
 * No network, no clock, no thread: whoever owns it sends what publish_queue_next() gives. */
#ifndef BALLAST_MQTT_PUBLISH_QUEUE_H
#define BALLAST_MQTT_PUBLISH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUBLISH_WINDOW 16

struct publish_queue;

struct queued_message {
    uint64_t event;              /* its id; 0: a state */
    const char *topic, *payload; /* payload "": takes back what was retained */
};

struct publish_queue *publish_queue_new(void);
void publish_queue_free(struct publish_queue *o); /* NULL is fine */

/* Both copy. An id that is not greater than the last one is ignored. */
void publish_queue_add_event(struct publish_queue *o, uint64_t id, const char *topic, const char *payload);
void publish_queue_set_state(struct publish_queue *o, const char *topic, const char *payload);

/* What is to be sent next: a state before an event. False: nothing, or the window is full. Valid until the
 * next call; the same again until publish_queue_sent(). */
bool publish_queue_next(struct publish_queue *o, struct queued_message *ret);

/* What publish_queue_next() gave was handed to the connection, which will answer by this number. */
void publish_queue_sent(struct publish_queue *o, int mid);

/* The broker has taken it, or refused it for good; either way it is over. False: not one that waits. ret:
 * what it was, until the next call. */
bool publish_queue_acknowledge(struct publish_queue *o, int mid, struct queued_message *ret);

/* Events up to this one are not to be sent any more, unless they are on their way already. */
void publish_queue_drop_events(struct publish_queue *o, uint64_t id);

/* The connection has ended. */
void publish_queue_connection_lost(struct publish_queue *o);

/* All events up to this id are over: what is to be remembered. 0: none was. */
uint64_t publish_queue_last_done(const struct publish_queue *o);

/* Events that are here and not over; without an answer, states included. */
size_t publish_queue_events(const struct publish_queue *o);
size_t publish_queue_unacknowledged(const struct publish_queue *o);

#endif
