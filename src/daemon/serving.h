/* serving.h: what a line at the socket asks for is done, and answered: at once, or when it has come about. */
#ifndef BALLAST_DAEMON_SERVING_H
#define BALLAST_DAEMON_SERVING_H

#include "config/config.h"
#include "daemon/outgoing.h"
#include "daemon/server.h"
#include "engine/engine.h"

/* What is asked, and when; borrowed for the call. */
struct serving {
    struct engine *engine;
    struct store *store;
    const struct config *config; /* in force */
    struct outgoing *out;
    instant_s now;
};

/* Answers a request, or has the client wait (client_wait()) with a ticket. */
void serving_line(const struct serving *s, struct client *c, const char *line, size_t len);

/* Answers one that waits, if there is an answer by now; one that follows events gets what is new. */
void serving_go_on(const struct serving *s, struct client *c, uint64_t ticket);

/* Whoever hangs up before it was decided where VMs go does not want them powered on any more. */
void serving_give_up(const struct serving *s, uint64_t ticket);

#endif
