/* server.h: the Unix socket and its clients.
 *
 * A client sends requests, one a line, and gets one line for each; the next request is read once the client
 * has read the last reply. A client that does not complete its request or does not read its reply in time is
 * dropped. The socket is 0660 in a directory of 0755; a user who may open it may use every command.
 *
 * No client keeps another one out:
 *   - Clients that stay (enum server_stay) are limited, in all and by user, to fewer than there are places.
 *     One more is refused with -EUSERS, so places remain for requests that are answered at once.
 *   - When all places are taken, a new client replaces one that does not stay: of the user with the most
 *     clients, the client that has neither asked nor read for the longest time.
 *   - Replies that clients have not read take SERVER_UNREAD_MAX bytes together, or those of one reply if it
 *     is larger; small ones come on top. When they are full, clients that have stopped reading are dropped,
 *     and if that does not suffice, the next large reply is refused (code 3). A reply that several clients
 *     read counts once. */
#ifndef BALLAST_DAEMON_SERVER_H
#define BALLAST_DAEMON_SERVER_H

#include "base/strbuf.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define SERVER_UNREAD_MAX ((size_t)64 * 1024 * 1024)

struct server;
struct client;

/* A line that any number of clients may read; it does not change. Counted references, for one thread. */
struct server_line;

/* Takes the text over and leaves it empty. The caller has one reference. */
struct server_line *server_line_new(struct strbuf *text);
void server_line_unref(struct server_line *line); /* NULL is fine */

/* Why a client stays connected after its request. */
enum server_stay {
    SERVER_STAY_RESULT, /* its pass or placement is not made yet */
    SERVER_STAY_EVENTS, /* it follows events */
    server_stay_count
};

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

/* Sends the text and a newline; takes the text over. Sends an error instead while unread replies leave no
 * room. */
void server_reply(struct client *c, struct strbuf *text);
void server_reply_line(struct client *c, struct server_line *line); /* takes its own reference */

/* Whether one more client of this user may stay. -EUSERS: too many do; the sentence names the limit. */
int server_may_stay(const struct client *c, enum server_stay why, struct err *err);

/* Lets the client wait until server_reply(). server_may_stay() must have allowed it. The caller chooses the
 * ticket, not 0. */
void server_wait(struct client *c, enum server_stay why, uint64_t ticket);

/* Sends one line to a waiting client, which continues to wait, without a time limit. A client that reads too
 * slowly is dropped. */
void server_stream(struct client *c, struct strbuf *text);
bool server_client_took_all(const struct client *c);

/* Calls `each` for every waiting client. It may reply. */
void server_each_waiting(struct server *s, void (*each)(void *ctx, struct client *c, uint64_t ticket));

/* The client's user, as the kernel reports it: "root (uid 0)". */
const char *server_client_user(const struct client *c);

#endif
