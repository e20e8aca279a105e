/* stream.h: events as they come, for browsers and programs (server-sent events).
 *
 * The main thread gives each event once (stream_add_event()); the newest of them are kept here for all
 * streams. A client that comes back with the number of the event that it has seen last gets the others: those
 * that are kept here no more from the store, as the first part of its stream. Where a stream cannot go on
 * without a gap it ends, and the client, as every EventSource does, comes back with that number. */
#ifndef BALLAST_HTTP_STREAM_H
#define BALLAST_HTTP_STREAM_H

#include "http/list_text.h"
#include "http/token.h"

#include <microhttpd.h>
#include <stdint.h>

#define STREAM_TYPE "text/event-stream"

/* Who reads a stream: it ends with their token or session. */
struct credential {
    unsigned char token[TOKEN_HASH_BYTES], session[TOKEN_HASH_BYTES]; /* hashes */
    bool by_session;
};

typedef bool (*stream_lasts_fn)(void *ctx, const struct credential *credential);

struct streams;
struct streams *stream_all_new(void);
void stream_all_free(struct streams *s); /* NULL is fine */

/* The number of the newest event there is: where a stream without a number begins. */
void stream_all_set_newest(struct streams *s, uint64_t newest);

/* The next event: its JSON on one line. */
void stream_add_event(struct streams *s, uint64_t id, const char *json);

/* Sends a comment to streams that were silent for long. Call it every few seconds. */
void stream_all_tick(struct streams *s);

/* Streams end whose credentials do not last. */
void stream_all_check(struct streams *s, stream_lasts_fn lasts, void *ctx);

/* All streams end. */
void stream_all_stop(struct streams *s);

/* A stream for the connection: first the events of the reply (NULL: none), then those after `after` or its
 * last one; `after` NULL: only new ones. */
struct MHD_Response *stream_open(struct streams *s, struct MHD_Connection *connection,
                                 const struct credential *credential, const uint64_t *after,
                                 struct list_text *first);

#endif
