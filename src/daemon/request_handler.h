/* request_handler.h: what a line at the socket asks for is done, and answered: at once, or when it has come
 * about. */
#ifndef BALLAST_DAEMON_REQUEST_HANDLER_H
#define BALLAST_DAEMON_REQUEST_HANDLER_H

#include "config/config.h"
#include "daemon/event_outputs.h"
#include "daemon/server.h"
#include "engine/engine.h"

/* What is asked, and when; borrowed for the call. */
struct request_handler {
    struct engine *engine;
    struct store *store;
    const struct config *config; /* in force */
    struct event_outputs *out;
    instant_s now;
};

/* Answers a request, or has the client wait (server_wait()) with a ticket. */
void request_handler_serve(const struct request_handler *s, struct client *c, const char *line, size_t len);

/* Answers one that waits, if there is an answer by now; one that follows events gets what is new. */
void request_handler_answer_waiting(const struct request_handler *s, struct client *c, uint64_t ticket);

/* Whoever hangs up before it was decided where VMs go does not want them powered on any more. */
void request_handler_cancel(const struct request_handler *s, uint64_t ticket);

#endif
