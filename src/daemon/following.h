/* following.h: who wants to see events: those that are there, and those that come (`ballast events
 * --follow`).
 *
 * A follower is a client of the server that waits for ever and gets line after line. It is given the next
 * events when it has taken the last ones, straight from the store, so a slow one costs nothing but its own
 * delay. */
#ifndef BALLAST_DAEMON_FOLLOWING_H
#define BALLAST_DAEMON_FOLLOWING_H

#include "daemon/request.h"
#include "daemon/server.h"
#include "store/events.h"

#include <stdbool.h>

struct following;

struct following *following_new(struct store *store);
void following_free(struct following *f); /* NULL is fine */

/* Answers into `out`; -EINPROGRESS: the client follows from now on. */
int following_serve(struct following *f, const struct request *q, struct client *c, struct strbuf *out,
                    struct err *err);

/* Whether the ticket is a follower's. */
bool following_has(uint64_t ticket);

/* Gives it what is new, if it has taken what it was given. */
void following_more(struct following *f, struct client *c, uint64_t ticket);
void following_gone(struct following *f, uint64_t ticket);

#endif
