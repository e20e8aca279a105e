/* server.h: the Unix socket and its clients.
 *
 * A client sends requests, one a line, and gets one line for each; the next request is read once the client
 * has read the last reply. Clients are bounded in number and in the length of a request. A client that does
 * not complete its request or does not read its reply in time is dropped. The socket is 0660 in a directory
 * of 0755; a user who may open it may use every command. */
#ifndef BALLAST_DAEMON_SERVER_H
#define BALLAST_DAEMON_SERVER_H

#include "base/strbuf.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct server;
struct client;

/* A request has arrived. It must call server_reply() or server_wait() before it returns. */
typedef void (*serve_fn)(void *ctx, struct client *c, const char *line, size_t len);

/* A client has read everything that server_stream() sent so far. More may be sent at once. */
typedef void (*more_fn)(void *ctx, struct client *c, uint64_t ticket);

/* A waiting client has hung up or has waited for too long. */
typedef void (*gone_fn)(void *ctx, uint64_t ticket);

/* Listens on the socket. A socket without a listener is replaced; -EADDRINUSE: another process listens. */
int server_start(sd_event *loop, const char *path, serve_fn serve, gone_fn gone, more_fn more, void *ctx,
                 struct server **ret, struct err *err);

/* Closes all connections and removes the socket. NULL is fine. */
void server_stop(struct server *s);

/* Sends the text and a newline; the text is copied. */
void server_reply(struct client *c, const struct strbuf *text);

/* Lets the client wait until server_reply(). The caller chooses the ticket, not 0. */
void server_wait(struct client *c, uint64_t ticket);

/* Sends one line to a waiting client, which continues to wait, without a time limit. A client that reads too
 * slowly is dropped. */
void server_stream(struct client *c, const struct strbuf *text);
bool server_client_took_all(const struct client *c);

/* Calls `each` for every waiting client. It may reply. */
void server_each_waiting(struct server *s, void (*each)(void *ctx, struct client *c, uint64_t ticket));

/* The client's user, as the kernel reports it: "root (uid 0)". */
const char *server_client_user(const struct client *c);

#endif
