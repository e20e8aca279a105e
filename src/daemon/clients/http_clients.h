/* http_clients.h: clients of the API over HTTP: their requests come through a queue from HTTP's threads, and
 * are carried out as those of the socket are. */
#ifndef BALLAST_DAEMON_CLIENTS_HTTP_CLIENTS_H
#define BALLAST_DAEMON_CLIENTS_HTTP_CLIENTS_H

#include "config/config.h"
#include "daemon/clients/client.h"
#include "http/http.h"
#include "request/request.h"

#include <systemd/sd-event.h>

struct http_clients;
struct store;

struct http_clients_options {
    const struct config *config;
    sd_event *loop;
    struct clients *clients; /* that wait */
    uint64_t newest;         /* number of the newest event */
    /* As serve_fn and gone_fn of server.h. */
    void (*serve)(void *ctx, struct client *c, struct request *q);
    void (*gone)(void *ctx, uint64_t ticket);
    void *ctx;
};

/* Listens on http.listen. Without it *ret stays NULL. */
int http_clients_start(const struct http_clients_options *options, struct http_clients **ret,
                       struct err *err);

/* Refuses what waits, and stops. NULL is fine, as in all below. */
void http_clients_stop(struct http_clients *h);

/* Gives the events that were stored since the last call to the streams of the API. newest: the number of the
 * newest one. */
void http_clients_update(struct http_clients *h, struct store *store, uint64_t newest);

/* NULL: the API is off. */
struct http *http_clients_server(struct http_clients *h);

#endif
