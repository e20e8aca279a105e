/* event_stream.h: answers requests for events, and sends new events to clients that follow (`ballast events
 * --follow`).
 *
 * A follower is a client that stays connected and gets one line for each event. The next events are read from
 * the store when the client has read the last ones, so a slow client delays only itself. */
#ifndef BALLAST_DAEMON_EVENTS_EVENT_STREAM_H
#define BALLAST_DAEMON_EVENTS_EVENT_STREAM_H

#include "daemon/clients/client.h"
#include "request/request.h"
#include "store/events.h"

#include <stdbool.h>

struct event_stream;

struct event_stream *event_stream_new(struct store *store);
void event_stream_free(struct event_stream *f); /* NULL is fine */

/* The number of the newest stored event: a follower that has it needs no look into the store. */
void event_stream_set_newest(struct event_stream *f, uint64_t newest);

/* Writes the answer to `out`. -EINPROGRESS: the client follows from now on. */
int event_stream_serve(struct event_stream *f, const struct request *q, struct client *c, struct strbuf *out,
                       struct err *err);

/* Whether the ticket belongs to a follower. */
bool event_stream_owns(uint64_t ticket);

/* Sends new events, if the client has read the last ones. */
void event_stream_send(struct event_stream *f, struct client *c, uint64_t ticket);
void event_stream_drop(struct event_stream *f, uint64_t ticket);

#endif
