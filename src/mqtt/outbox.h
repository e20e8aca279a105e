/* outbox.h: what is on its way to the broker: in order, bounded, and again where an answer got lost.
 *
 * Two sorts of messages. Events have ids that grow; each is sent once it is its turn, at most OUTBOX_WINDOW
 * are without an answer at a time, and what is behind them waits. States are retained by the broker: only the
 * newest of each topic counts, so a newer one takes the place of an older one that was not sent yet, and all
 * of them are sent again with each connection, since the broker may have lost them.
 *
 * A connection that ends takes the broker's answers with it: what was sent and not answered is sent again, in
 * the old order, before anything else. That is what "at least once" comes to.
 *
 * No network, no clock, no thread: whoever owns it sends what outbox_next() gives. */
#ifndef BALLAST_MQTT_OUTBOX_H
#define BALLAST_MQTT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTBOX_WINDOW 16

struct outbox;

struct outbox_message {
    uint64_t event;              /* its id; 0: a state */
    const char *topic, *payload; /* payload "": takes back what was retained */
};

struct outbox *outbox_new(void);
void outbox_free(struct outbox *o); /* NULL is fine */

/* Both copy. An id that is not greater than the last one is ignored. */
void outbox_add_event(struct outbox *o, uint64_t id, const char *topic, const char *payload);
void outbox_set_state(struct outbox *o, const char *topic, const char *payload);

/* What is to be sent next: a state before an event. False: nothing, or the window is full. Valid until the
 * next call; the same again until outbox_sent(). */
bool outbox_next(struct outbox *o, struct outbox_message *ret);

/* What outbox_next() gave was handed to the connection, which will answer by this number. */
void outbox_sent(struct outbox *o, int mid);

/* The broker has taken it, or refused it for good; either way it is over. False: not one that waits. ret:
 * what it was, until the next call. */
bool outbox_answered(struct outbox *o, int mid, struct outbox_message *ret);

/* Events up to this one are not to be sent any more, unless they are on their way already. */
void outbox_drop(struct outbox *o, uint64_t id);

/* The connection has ended. */
void outbox_lost(struct outbox *o);

/* All events up to this id are over: what is to be remembered. 0: none was. */
uint64_t outbox_over(const struct outbox *o);

/* Events that are here and not over; without an answer, states included. */
size_t outbox_events(const struct outbox *o);
size_t outbox_unanswered(const struct outbox *o);

#endif
