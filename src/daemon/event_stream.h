/* event_stream.h: who wants to see events: those that are there, and those that come (`ballast events
 * --follow`).
 *
 * A follower is a client of the server that waits for ever and gets line after line. It is given the next
 * events when it has taken the last ones, straight from the store, so a slow one costs nothing but its own
 * delay. */
#ifndef BALLAST_DAEMON_EVENT_STREAM_H
#define BALLAST_DAEMON_EVENT_STREAM_H

#include "daemon/request.h"
#include "daemon/server.h"
#include "store/events.h"

#include <stdbool.h>

struct event_stream;

struct event_stream *event_stream_new(struct store *store);
void event_stream_free(struct event_stream *f); /* NULL is fine */

/* Answers into `out`; -EINPROGRESS: the client follows from now on. */
int event_stream_serve(struct event_stream *f, const struct request *q, struct client *c, struct strbuf *out,
                       struct err *err);

/* Whether the ticket is a follower's. */
bool event_stream_owns(uint64_t ticket);

/* Gives it what is new, if it has taken what it was given. */
void event_stream_send(struct event_stream *f, struct client *c, uint64_t ticket);
void event_stream_drop(struct event_stream *f, uint64_t ticket);

#endif
