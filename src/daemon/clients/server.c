/* server.c: the Unix socket: accepts clients, reads lines, sends replies, drops slow clients, and keeps
 * places and memory for the next request. It does not know what a line means. */
#include "daemon/clients/server.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/clients/listener.h"
#include "daemon/process.h"
#include "daemon/replies/reply.h"
#include "request/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 256 /* more than client.c lets stay */
#define GROUPS_MOST 1024
#define SLOW_S 30                    /* to complete a request, or to read part of a reply */
#define WAIT_S 3600                  /* for a pass, or a placement */
#define READ_BYTES_S 1000000         /* the least speed at which a reply is read as a whole */
#define SEND_AT_ONCE (1 << 20)       /* to one client, before the others are served */
#define STALLED_US UINT64_C(2000000) /* a client that has read nothing for so long has stopped reading */
#define SMALL_BYTES ((size_t)1 << 20)

/* A client of this transport. */
struct socket_client {
    struct client is; /* first */
    struct socket_client *next;
    struct server *server;
    int fd;
    sd_event_source *io, *timer;
    char *in; /* REQUEST_BYTES_MAX + 1: a whole line and its end */
    size_t in_len;
    struct shared_text *out; /* NULL: it has read everything */
    size_t out_done;
    uint64_t read_by_us; /* when `out` must have been read, on the monotonic clock */
    uint64_t active_us;  /* when it connected, asked or read last, on the same clock */
    bool last;           /* close once the reply is sent */
    bool user_known;
    uid_t uid;
};

struct server {
    sd_event *loop;
    sd_event_source *io;
    int fd;
    char *path;
    struct server_options is;
    struct socket_client *clients;
    unsigned n_clients;
    size_t unread; /* bytes of the texts that clients read */
};

/* ---- clients --------------------------------------------------------------------------------- */

static uint64_t now_us(const struct server *s)
{
    uint64_t now = 0;

    (void)sd_event_now(s->loop, CLOCK_MONOTONIC, &now);
    return now;
}

static bool is_read(const struct server *s, const struct shared_text *text)
{
    for (const struct socket_client *c = s->clients; c; c = c->next) {
        if (c->out == text)
            return true;
    }
    return false;
}

static void forget_text(struct socket_client *c)
{
    struct shared_text *text = c->out;

    if (!text)
        return;
    c->out = NULL;
    c->out_done = 0;
    if (!is_read(c->server, text))
        c->server->unread -= shared_text_length(text);
    shared_text_unref(text);
}

static void drop(struct socket_client *c)
{
    struct socket_client **at = &c->server->clients;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->server->n_clients--;
    uint64_t ticket = client_stop_waiting(&c->is);

    if (ticket != 0)
        c->server->is.gone(c->server->is.ctx, ticket);
    forget_text(c);
    (void)sd_event_source_disable_unref(c->io);
    (void)sd_event_source_disable_unref(c->timer);
    (void)close(c->fd);
    free(c->in);
    free(c);
}

static bool follows(const struct socket_client *c)
{
    return c->is.ticket != 0 && c->is.why == CLIENT_STAY_EVENTS;
}

static int on_slow(sd_event_source *source, uint64_t usec, void *userdata)
{
    const struct socket_client *c = userdata;

    (void)source, (void)usec;
    if (c->out)
        log_notice("%s does not read %s fast enough: dropped", c->is.who,
                   follows(c) ? "the events that it follows" : "the reply to its request");
    drop(userdata);
    return 0;
}

static void allow(struct socket_client *c, uint64_t seconds)
{
    uint64_t until = now_us(c->server) + seconds * USEC_PER_S;

    if (c->out && until > c->read_by_us)
        until = c->read_by_us;
    (void)sd_event_source_set_time(c->timer, until);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static bool busy(const struct socket_client *c)
{
    return c->is.ticket != 0 || c->out;
}

/* Waits for the client to read its reply, else for a request, else for the end of the connection. */
static void listen_for(struct socket_client *c)
{
    (void)sd_event_source_set_io_events(c->io, c->out ? EPOLLOUT : c->is.ticket != 0 ? 0 : EPOLLIN);
}

/* Sends as much as the socket takes, within limits. False: the client is gone. */
static bool flush(struct socket_client *c)
{
    for (size_t sent = 0; c->out && sent < SEND_AT_ONCE;) {
        const size_t len = shared_text_length(c->out);
        ssize_t n = send(c->fd, shared_text_bytes(c->out) + c->out_done, len - c->out_done,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) {
            drop(c);
            return false;
        }
        sent += (size_t)n;
        c->out_done += (size_t)n;
        c->active_us = now_us(c->server);
        allow(c, SLOW_S);
        if (c->out_done == len)
            forget_text(c);
    }
    if (c->out)
        return true;
    if (c->last) {
        drop(c);
        return false;
    }
    if (follows(c)) {
        (void)sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
        c->server->is.more(c->server->is.ctx, &c->is, c->is.ticket);
    }
    return true;
}

/* Of the clients that have stopped reading, the one that has read nothing for the longest time. The client
 * that is served at this moment is active, so it is never among them. */
static struct socket_client *stalled_reader(const struct server *s)
{
    const uint64_t now = now_us(s);
    struct socket_client *slowest = NULL;

    for (struct socket_client *c = s->clients; c; c = c->next) {
        if (c->out && c->active_us + STALLED_US <= now && (!slowest || c->active_us < slowest->active_us))
            slowest = c;
    }
    return slowest;
}

/* False: there is none. A small text always has room, and so has a large one if it is the only one. */
static bool make_room(struct server *s, const struct shared_text *text)
{
    const size_t len = shared_text_length(text);
    struct socket_client *slowest;

    if (is_read(s, text))
        return true;
    while (s->unread + len > SERVER_UNREAD_MAX && (slowest = stalled_reader(s)) != NULL) {
        log_notice("%s does not read its reply of %zu KiB, and unread replies take too much memory: dropped",
                   slowest->is.who, shared_text_length(slowest->out) / 1024);
        drop(slowest);
    }
    return len <= SMALL_BYTES || s->unread <= SMALL_BYTES || s->unread + len <= SERVER_UNREAD_MAX;
}

static void send_text(struct socket_client *c, struct shared_text *text)
{
    struct server *s = c->server;

    if (!is_read(s, text))
        s->unread += shared_text_length(text);
    c->out = shared_text_ref(text);
    c->out_done = 0;
    c->active_us = now_us(s);
    c->read_by_us = c->active_us + (SLOW_S + shared_text_length(text) / READ_BYTES_S) * USEC_PER_S;
    allow(c, SLOW_S);
    listen_for(c); /* sent from the loop, so that the caller's client is not freed during its call */
}

/* Small, so it has room. */
static void send_error(struct client *is, const struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    reply_error(err, &out);
    CLEANUP(shared_text_unrefp) struct shared_text *text = shared_text_new(&out);

    send_text((struct socket_client *)is, text);
}

static void send_reply(struct client *is, struct shared_text *text)
{
    struct socket_client *c = (struct socket_client *)is;
    struct err err;

    if (make_room(c->server, text)) {
        send_text(c, text);
        return;
    }
    (void)err_set(&err, -EUSERS,
                  "the service is overloaded: clients have not read their replies yet; try again soon");
    send_error(is, &err);
}

static void send_more(struct client *is, struct shared_text *text)
{
    struct socket_client *c = (struct socket_client *)is;

    (void)make_room(c->server, text);
    send_text(c, text);
}

static bool took_all(const struct client *is)
{
    return !((const struct socket_client *)is)->out;
}

static void allow_to_wait(struct client *is)
{
    struct socket_client *c = (struct socket_client *)is;

    allow(c, WAIT_S);
    listen_for(c);
}

static const struct client_ops socket_client_ops = {.reply = send_reply,
                                                    .refuse = send_error,
                                                    .waits = allow_to_wait,
                                                    .stream = send_more,
                                                    .took_all = took_all};

static bool same_user(const struct socket_client *a, const struct socket_client *b)
{
    return a->user_known == b->user_known && a->uid == b->uid;
}

/* The kernel's word on the process at the other end: no look-up of a user's groups, which may take long. */
static enum role role_of(const struct socket_client *c)
{
    gid_t groups[GROUPS_MOST];
    socklen_t len = sizeof groups;
    struct ucred cred;
    socklen_t cred_len = sizeof cred;

    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) < 0)
        return ROLE_VIEWER;
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
        len = 0;
    const struct server_peer peer = {
        .uid = cred.uid, .gid = cred.gid, .groups = groups, .n_groups = len / sizeof *groups};

    return c->server->is.role(c->server->is.ctx, &peer);
}

/* The connection ends after the error. */
static void refuse(struct socket_client *c, const char *sentence)
{
    struct err err;

    c->last = true;
    (void)err_set(&err, -EINVAL, "%s", sentence);
    send_error(&c->is, &err);
}

/* Serves the received lines in order, as long as each is answered at once. */
static void serve_lines(struct socket_client *c)
{
    while (!busy(c) && !c->last) {
        char *end = memchr(c->in, '\n', c->in_len);

        if (!end) {
            if (c->in_len > REQUEST_BYTES_MAX)
                refuse(c, "the request is too long");
            return;
        }
        size_t len = (size_t)(end - c->in);

        *end = '\0';
        c->active_us = now_us(c->server);
        c->is.role = role_of(c);
        c->server->is.serve(c->server->is.ctx, &c->is, c->in, len);
        c->in_len -= len + 1;
        memmove(c->in, end + 1, c->in_len);
    }
}

/* False: the client is gone. */
static bool receive(struct socket_client *c)
{
    ssize_t n = recv(c->fd, c->in + c->in_len, REQUEST_BYTES_MAX + 1 - c->in_len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        drop(c);
        return false;
    }
    c->in_len += (size_t)n;
    return true;
}

static int on_client(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct socket_client *c = userdata;

    (void)source, (void)fd;
    if ((revents & (EPOLLERR | EPOLLHUP)) && !(revents & EPOLLIN)) {
        drop(c);
        return 0;
    }
    if ((revents & EPOLLOUT) && !flush(c))
        return 0;
    if ((revents & EPOLLIN) && !busy(c) && !receive(c))
        return 0;
    serve_lines(c);
    listen_for(c);
    return 0;
}

static void name_peer(struct socket_client *c)
{
    struct ucred cred;
    socklen_t len = sizeof cred;

    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        (void)snprintf(c->is.who, sizeof c->is.who, "an unknown user");
        return;
    }
    c->user_known = true;
    c->uid = cred.uid;
    process_name_user(cred.uid, c->is.who, sizeof c->is.who);
    process_name_person(cred.uid, c->is.person);
}

static unsigned count_of_user(const struct socket_client *c)
{
    unsigned n = 0;

    for (const struct socket_client *x = c->server->clients; x; x = x->next)
        n += same_user(x, c);
    return n;
}

/* Drops one client that does not stay. There is one: fewer may stay than there are places. */
static void free_a_place(struct server *s)
{
    struct socket_client *victim = NULL;
    unsigned most = 0;

    for (struct socket_client *c = s->clients; c; c = c->next) {
        unsigned n = c->is.ticket == 0 ? count_of_user(c) : 0;

        if (n > most || (n > 0 && n == most && c->active_us < victim->active_us)) {
            victim = c;
            most = n;
        }
    }
    if (victim)
        drop(victim);
}

static int client_add(struct server *s, int fd)
{
    struct socket_client *c;
    int r;

    if (s->n_clients >= CLIENTS_MAX)
        free_a_place(s);
    c = xcalloc(1, sizeof *c);
    c->server = s;
    c->fd = fd;
    c->is.ops = &socket_client_ops;
    c->is.all = s->is.clients;
    c->in = xcalloc(1, REQUEST_BYTES_MAX + 1);
    c->active_us = now_us(s);
    name_peer(c);
    c->next = s->clients;
    s->clients = c;
    s->n_clients++;
    if ((r = sd_event_add_io(s->loop, &c->io, fd, EPOLLIN, on_client, c)) < 0 ||
        (r = sd_event_add_time_relative(s->loop, &c->timer, CLOCK_MONOTONIC, SLOW_S * USEC_PER_S, 0, on_slow,
                                        c)) < 0)
        drop(c);
    return r < 0 ? r : 0;
}

static int on_connect(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    (void)source, (void)revents;
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (peer < 0)
        return 0; /* the client is gone, or no descriptor is left: continue with the others */
    (void)client_add(userdata, peer);
    return 0;
}

/* ---- the socket ------------------------------------------------------------------------------ */

int server_start(sd_event *loop, const struct server_options *options, struct server **ret, struct err *err)
{
    struct server *s = xcalloc(1, sizeof *s);
    int r = listener_open(options->path, &s->fd, err);

    if (r < 0) {
        free(s);
        return r;
    }
    s->loop = loop;
    s->path = xstrdup(options->path);
    s->is = *options;
    r = sd_event_add_io(loop, &s->io, s->fd, EPOLLIN, on_connect, s);
    if (r < 0) {
        server_stop(s);
        return err_set(err, r, "the socket cannot be waited for: %s", strerror(-r));
    }
    *ret = s;
    return 0;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    while (s->clients) {
        struct socket_client *c = s->clients;

        if (c->out) /* the last reply, as much as the socket takes */
            (void)send(c->fd, shared_text_bytes(c->out) + c->out_done,
                       shared_text_length(c->out) - c->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);
        drop(c);
    }
    (void)sd_event_source_disable_unref(s->io);
    (void)unlink(s->path);
    (void)close(s->fd);
    free(s->path);
    free(s);
}
