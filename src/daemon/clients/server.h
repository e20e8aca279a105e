/* server.h: the Unix socket and its clients.
 *
 * A client sends requests, one a line, and gets one line for each; the next request is read once the client
 * has read the last reply. A client that does not complete its request or does not read its reply in time is
 * dropped. The socket is 0660 in a directory of 0755; a user who may open it
 * may use every command that its role allows.
 *
 * No client keeps another one out:
 *   - Clients that stay (enum client_stay) are limited, in all and by user, to fewer than there are places.
 *     One more is refused with -EUSERS, so places remain for requests that are answered at once.
 *   - When all places are taken, a new client replaces one that does not stay: of the user with the most
 *     clients, the client that has neither asked nor read for the longest time.
 *   - Replies that clients have not read take SERVER_UNREAD_MAX bytes together, or those of one reply if it
 *     is larger; small ones come on top. When they are full, clients that have stopped reading are dropped,
 *     and if that does not suffice, the next large reply is refused (code 3). A reply that several clients
 *     read counts once. */
#ifndef BALLAST_DAEMON_CLIENTS_SERVER_H
#define BALLAST_DAEMON_CLIENTS_SERVER_H

#include "daemon/clients/client.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define SERVER_UNREAD_MAX ((size_t)64 * 1024 * 1024)

struct server;

/* A process that is connected, as the kernel reports it. */
struct server_peer {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* the others */
    size_t n_groups;
};

/* A request has arrived. It must answer, or let the client wait, before it returns. */
typedef void (*serve_fn)(void *ctx, struct client *c, const char *line, size_t len);

/* A client has read everything that client_stream() sent so far. More may be sent at once. */
typedef void (*more_fn)(void *ctx, struct client *c, uint64_t ticket);

/* A waiting client has hung up or has waited for too long. */
typedef void (*gone_fn)(void *ctx, uint64_t ticket);

/* The role of the process at the other end, by its user and its groups. */
typedef enum role (*role_fn)(void *ctx, const struct server_peer *peer);

struct server_options {
    const char *path;
    struct clients *clients;
    serve_fn serve;
    gone_fn gone;
    more_fn more;
    role_fn role;
    void *ctx; /* of these four */
};

/* Listens on the socket. A socket without a listener is replaced; -EADDRINUSE: another process listens. */
int server_start(sd_event *loop, const struct server_options *options, struct server **ret, struct err *err);

/* Closes all connections and removes the socket. NULL is fine. */
void server_stop(struct server *s);

#endif
