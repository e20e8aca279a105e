/* inflight.h: the messages between the MQTT thread and the broker: in order, bounded, repeated when a
 * connection was lost. Events wait in the store, not here: only a few are queued at a time.
 *
 * Two kinds of messages. Events have growing ids and are sent in order; at most PUBLISH_WINDOW messages are
 * unacknowledged at a time. States are retained by the broker, so only the newest of each topic counts: it
 * replaces one that was not sent yet, and all states are sent again after each connect.
 *
 * Messages without an acknowledgement when a connection ends are sent again first, in their order: at least
 * once.
 *
 * An event that the broker refuses is kept aside and does not hold up the others: its owner has it sent again
 * from time to time, and ends that. It then comes late, after events with greater ids.
 *
 * No network, no clock, no thread: the owner sends what inflight_next() returns. */
#ifndef BALLAST_MQTT_INFLIGHT_H
#define BALLAST_MQTT_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUBLISH_WINDOW 16
#define REFUSED_KEPT_MAX 1000 /* one more replaces the oldest */

struct inflight;

struct queued_message {
    uint64_t event;              /* its id; 0: a state */
    const char *topic, *payload; /* payload "": clears the retained message */
};

struct inflight *inflight_new(void);
void inflight_free(struct inflight *o); /* NULL is fine */

/* Both copy. An id that is not greater than the last one is ignored. */
void inflight_add_event(struct inflight *o, uint64_t id, const char *topic, const char *payload);
void inflight_set_state(struct inflight *o, const char *topic, const char *payload);

/* The next message to send, states before events. False: none, or the window is full. Valid until the next
 * call; the same message until inflight_sent(). */
bool inflight_next(struct inflight *o, struct queued_message *ret);

/* The message of inflight_next() was handed to the connection, which will answer with this id. */
void inflight_sent(struct inflight *o, int mid);

/* The broker has confirmed or refused the message; both end it. False: no message waits for this id. ret: the
 * message, until the next call. */
bool inflight_acknowledge(struct inflight *o, int mid, struct queued_message *ret);

/* As inflight_acknowledge() for a message that was refused at the time `now`, on the owner's clock: an event
 * is kept, with the time of its first refusal. */
bool inflight_refuse(struct inflight *o, int mid, int64_t now, struct queued_message *ret);

/* Sends all kept events again, after the others. */
void inflight_retry_refused(struct inflight *o);

/* Drops the kept events that were first refused before this time; returns their number. */
size_t inflight_give_up_refused(struct inflight *o, int64_t before);
size_t inflight_refused_kept(const struct inflight *o);

/* Drops events up to this one that were not sent yet. */
void inflight_drop_events(struct inflight *o, uint64_t id);

/* The connection has ended. */
void inflight_connection_lost(struct inflight *o);

/* All events up to this id were confirmed, refused or dropped; to be remembered by the owner. 0: none. */
uint64_t inflight_last_done(const struct inflight *o);

/* Events queued or unacknowledged; all unacknowledged messages, states included. */
size_t inflight_events(const struct inflight *o);
size_t inflight_unacknowledged(const struct inflight *o);

#endif
