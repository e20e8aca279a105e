/* request_handler.h: carries out a request of a client and answers it, at once or once its result is
 * known. */
#ifndef BALLAST_DAEMON_CLIENTS_REQUEST_HANDLER_H
#define BALLAST_DAEMON_CLIENTS_REQUEST_HANDLER_H

#include "config/config.h"
#include "daemon/clients/client.h"
#include "daemon/clients/decisions.h"
#include "daemon/clients/policies.h"
#include "daemon/events/event_outputs.h"
#include "daemon/known_peers.h"
#include "daemon/replies/metrics.h"
#include "engine/engine.h"
#include "http/http.h"
#include "request/request.h"

/* Long replies that depend only on the last inventory and the last pass: made once, and sent to each client
 * that asks for them. All zero: none is made. */
struct shared_replies {
    struct shared_text *texts[request_kind_count];
    uint64_t pass;        /* that they were made after */
    uint64_t plan_ticket; /* the decision that makes the plan; 0: none of the last snapshot */
    struct http *http;    /* gives them to its clients, too; NULL: none */
};

/* Call it after each inventory and each change of the configuration, and at the end. */
void request_handler_forget_shared(struct shared_replies *shared);

/* Forgets those that were made before the last pass: HTTP's threads give them without asking. Call it after
 * each event of the loop. */
void request_handler_forget_older(struct shared_replies *shared, const struct engine *e);

/* The objects that a request uses; borrowed for the call. */
struct request_handler {
    struct shared_replies *shared;
    struct engine *engine;
    struct store *store;
    const struct config *config; /* in force */
    struct event_outputs *out;
    struct service_metrics *metrics;
    struct admin_tokens *tokens;
    struct decisions *decisions;
    struct login_guards *logins; /* of the hosts' controllers */
    struct known_peers *peers;
    struct policies *policies;
    void (*configure)(void *service); /* puts settings in force that a client has changed */
    void *service;
    const char *reload_by; /* who asked for the reload that waits; NULL: none waits */
    instant_s reload_since;
    instant_s now;
};

/* Carries the request out, and answers or lets the client wait with a ticket. It may change *q. */
void request_handler_serve(const struct request_handler *s, struct client *c, struct request *q);

/* Parses the line first. */
void request_handler_serve_line(const struct request_handler *s, struct client *c, const char *line,
                                size_t len);

/* Answers a waiting client if its result is known; sends new events to a follower. */
void request_handler_answer_waiting(const struct request_handler *s, struct client *c, uint64_t ticket);

/* A waiting client has hung up: its placement or decision is cancelled, its event stream ends. */
void request_handler_cancel(const struct request_handler *s, uint64_t ticket);

#endif
