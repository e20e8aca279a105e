/* server.c: the Unix socket: accepts clients, reads lines, sends replies, drops slow clients, and keeps
 * places and memory for the next request. It does not know what a line means. */
#include "daemon/server.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/listener.h"
#include "daemon/process.h"
#include "daemon/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 256
#define SLOW_S 30                    /* to complete a request, or to read part of a reply */
#define WAIT_S 3600                  /* for a pass, or a placement */
#define READ_BYTES_S 1000000         /* the least speed at which a reply is read as a whole */
#define SEND_AT_ONCE (1 << 20)       /* to one client, before the others are served */
#define STALLED_US UINT64_C(2000000) /* a client that has read nothing for so long has stopped reading */
#define SMALL_BYTES ((size_t)1 << 20)

struct server_line {
    size_t references;
    size_t readers; /* clients that have not read it to its end */
    struct strbuf text;
};

/* How many clients may stay, and what they do; fewer in all than CLIENTS_MAX. */
static const struct {
    unsigned all, of_user;
    const char *doing;
} stays[server_stay_count] = {
    [SERVER_STAY_RESULT] = {32, 16, "wait for a pass or a placement"},
    [SERVER_STAY_EVENTS] = {64, 32, "follow events"},
};

struct client {
    struct client *next;
    struct server *server;
    int fd;
    sd_event_source *io, *timer;
    char *in; /* REQUEST_BYTES_MAX + 1: a whole line and its end */
    size_t in_len;
    struct server_line *out; /* NULL: it has read everything */
    size_t out_done;
    uint64_t read_by_us; /* when `out` must have been read, on the monotonic clock */
    uint64_t active_us;  /* when it connected, asked or read last, on the same clock */
    uint64_t ticket;     /* the client waits for this; 0: does not wait */
    enum server_stay why;
    bool last; /* close once the reply is sent */
    bool user_known;
    uid_t uid;
    char who[USER_NAME_MAX];
};

struct server {
    sd_event *loop;
    sd_event_source *io;
    int fd;
    char *path;
    serve_fn serve;
    gone_fn gone;
    more_fn more;
    void *ctx;
    struct client *clients;
    unsigned n_clients;
    size_t unread; /* bytes of the lines that have readers */
};

/* ---- lines ----------------------------------------------------------------------------------- */

struct server_line *server_line_new(struct strbuf *text)
{
    struct server_line *line = xcalloc(1, sizeof *line);

    line->references = 1;
    while (text->len > 0 && text->text[text->len - 1] == '\n')
        text->len--;
    strbuf_puts(text, "\n");
    line->text = *text;
    strbuf_init(text, STRBUF_NO_LIMIT);
    return line;
}

void server_line_unref(struct server_line *line)
{
    if (!line || --line->references > 0)
        return;
    strbuf_release(&line->text);
    free(line);
}

/* ---- clients --------------------------------------------------------------------------------- */

static uint64_t now_us(const struct server *s)
{
    uint64_t now = 0;

    (void)sd_event_now(s->loop, CLOCK_MONOTONIC, &now);
    return now;
}

static void forget_line(struct client *c)
{
    if (!c->out)
        return;
    if (--c->out->readers == 0)
        c->server->unread -= c->out->text.len;
    server_line_unref(c->out);
    c->out = NULL;
    c->out_done = 0;
}

static void client_drop(struct client *c)
{
    struct client **at = &c->server->clients;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->server->n_clients--;
    if (c->ticket != 0)
        c->server->gone(c->server->ctx, c->ticket);
    forget_line(c);
    (void)sd_event_source_disable_unref(c->io);
    (void)sd_event_source_disable_unref(c->timer);
    (void)close(c->fd);
    free(c->in);
    free(c);
}

static bool follows(const struct client *c)
{
    return c->ticket != 0 && c->why == SERVER_STAY_EVENTS;
}

static int on_slow(sd_event_source *source, uint64_t usec, void *userdata)
{
    const struct client *c = userdata;

    (void)source, (void)usec;
    if (c->out)
        log_notice("%s does not read %s fast enough: dropped", c->who,
                   follows(c) ? "the events that it follows" : "the reply to its request");
    client_drop(userdata);
    return 0;
}

static void allow(struct client *c, uint64_t seconds)
{
    uint64_t until = now_us(c->server) + seconds * USEC_PER_S;

    if (c->out && until > c->read_by_us)
        until = c->read_by_us;
    (void)sd_event_source_set_time(c->timer, until);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static bool busy(const struct client *c)
{
    return c->ticket != 0 || c->out;
}

/* Waits for the client to read its reply, else for a request, else for the end of the connection. */
static void listen_for(struct client *c)
{
    (void)sd_event_source_set_io_events(c->io, c->out ? EPOLLOUT : c->ticket != 0 ? 0 : EPOLLIN);
}

/* Sends as much as the socket takes, within limits. False: the client is gone. */
static bool flush(struct client *c)
{
    for (size_t sent = 0; c->out && sent < SEND_AT_ONCE;) {
        const struct strbuf *text = &c->out->text;
        ssize_t n =
            send(c->fd, text->text + c->out_done, text->len - c->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0) {
            client_drop(c);
            return false;
        }
        sent += (size_t)n;
        c->out_done += (size_t)n;
        c->active_us = now_us(c->server);
        allow(c, SLOW_S);
        if (c->out_done == text->len)
            forget_line(c);
    }
    if (c->out)
        return true;
    if (c->last) {
        client_drop(c);
        return false;
    }
    if (follows(c)) {
        (void)sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
        c->server->more(c->server->ctx, c, c->ticket);
    }
    return true;
}

/* Of the clients that have stopped reading, the one that has read nothing for the longest time. The client
 * that is served at this moment is active, so it is never among them. */
static struct client *stalled_reader(const struct server *s)
{
    const uint64_t now = now_us(s);
    struct client *slowest = NULL;

    for (struct client *c = s->clients; c; c = c->next) {
        if (c->out && c->active_us + STALLED_US <= now && (!slowest || c->active_us < slowest->active_us))
            slowest = c;
    }
    return slowest;
}

/* False: there is none. A small line always has room, and so has a large one if it is the only one. */
static bool make_room(struct server *s, const struct server_line *line)
{
    struct client *slowest;

    if (line->readers > 0)
        return true;
    while (s->unread + line->text.len > SERVER_UNREAD_MAX && (slowest = stalled_reader(s)) != NULL) {
        log_notice("%s does not read its reply of %zu KiB, and unread replies take too much memory: dropped",
                   slowest->who, slowest->out->text.len / 1024);
        client_drop(slowest);
    }
    return line->text.len <= SMALL_BYTES || s->unread <= SMALL_BYTES ||
           s->unread + line->text.len <= SERVER_UNREAD_MAX;
}

static void send_line(struct client *c, struct server_line *line)
{
    struct server *s = c->server;

    if (line->readers++ == 0)
        s->unread += line->text.len;
    line->references++;
    c->out = line;
    c->out_done = 0;
    c->active_us = now_us(s);
    c->read_by_us = c->active_us + (SLOW_S + line->text.len / READ_BYTES_S) * USEC_PER_S;
    allow(c, SLOW_S);
    listen_for(c); /* sent from the loop, so that the caller's client is not freed during its call */
}

static void send_error(struct client *c, int code, const char *sentence)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    strbuf_printf(&text, "{\"ok\": false, \"code\": %d, \"error\": \"%s\"}", code, sentence);
    struct server_line *line = server_line_new(&text);

    send_line(c, line);
    server_line_unref(line);
}

void server_reply_line(struct client *c, struct server_line *line)
{
    c->ticket = 0;
    if (make_room(c->server, line))
        send_line(c, line);
    else
        send_error(c, 3,
                   "the service is overloaded: clients have not read their replies yet; try again soon");
}

void server_reply(struct client *c, struct strbuf *text)
{
    struct server_line *line = server_line_new(text);

    server_reply_line(c, line);
    server_line_unref(line);
}

void server_stream(struct client *c, struct strbuf *text)
{
    struct server_line *line = server_line_new(text);

    (void)make_room(c->server, line);
    send_line(c, line);
    server_line_unref(line);
}

bool server_client_took_all(const struct client *c)
{
    return !c->out;
}

static bool same_user(const struct client *a, const struct client *b)
{
    return a->user_known == b->user_known && a->uid == b->uid;
}

int server_may_stay(const struct client *c, enum server_stay why, struct err *err)
{
    unsigned all = 0;
    unsigned of_user = 0;

    for (const struct client *x = c->server->clients; x; x = x->next) {
        if (x->ticket == 0 || x->why != why)
            continue;
        all++;
        of_user += same_user(x, c);
    }
    if (of_user >= stays[why].of_user)
        return err_set(err, -EUSERS,
                       "the service has too many clients: %u of %s %s already, the most for one user",
                       of_user, c->who, stays[why].doing);
    if (all >= stays[why].all)
        return err_set(err, -EUSERS, "the service has too many clients: %u %s already, the most at a time",
                       all, stays[why].doing);
    return 0;
}

void server_wait(struct client *c, enum server_stay why, uint64_t ticket)
{
    c->ticket = ticket;
    c->why = why;
    allow(c, WAIT_S);
    listen_for(c);
}

const char *server_client_user(const struct client *c)
{
    return c->who;
}

/* The connection ends after the error. */
static void refuse(struct client *c, const char *sentence)
{
    c->last = true;
    send_error(c, 2, sentence);
}

/* Serves the received lines in order, as long as each is answered at once. */
static void serve_lines(struct client *c)
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
        c->server->serve(c->server->ctx, c, c->in, len);
        c->in_len -= len + 1;
        memmove(c->in, end + 1, c->in_len);
    }
}

/* False: the client is gone. */
static bool receive(struct client *c)
{
    ssize_t n = recv(c->fd, c->in + c->in_len, REQUEST_BYTES_MAX + 1 - c->in_len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0) {
        client_drop(c);
        return false;
    }
    c->in_len += (size_t)n;
    return true;
}

static int on_client(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct client *c = userdata;

    (void)source, (void)fd;
    if ((revents & (EPOLLERR | EPOLLHUP)) && !(revents & EPOLLIN)) {
        client_drop(c);
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

static void name_peer(struct client *c)
{
    struct ucred cred;
    socklen_t len = sizeof cred;

    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        (void)snprintf(c->who, sizeof c->who, "an unknown user");
        return;
    }
    c->user_known = true;
    c->uid = cred.uid;
    process_name_user(cred.uid, c->who, sizeof c->who);
}

static unsigned count_of_user(const struct client *c)
{
    unsigned n = 0;

    for (const struct client *x = c->server->clients; x; x = x->next)
        n += same_user(x, c);
    return n;
}

/* Drops one client that does not stay. There is one: fewer may stay than there are places. */
static void free_a_place(struct server *s)
{
    struct client *victim = NULL;
    unsigned most = 0;

    for (struct client *c = s->clients; c; c = c->next) {
        unsigned n = c->ticket == 0 ? count_of_user(c) : 0;

        if (n > most || (n > 0 && n == most && c->active_us < victim->active_us)) {
            victim = c;
            most = n;
        }
    }
    if (victim)
        client_drop(victim);
}

static int client_add(struct server *s, int fd)
{
    struct client *c;
    int r;

    if (s->n_clients >= CLIENTS_MAX)
        free_a_place(s);
    c = xcalloc(1, sizeof *c);
    c->server = s;
    c->fd = fd;
    c->in = xcalloc(1, REQUEST_BYTES_MAX + 1);
    c->active_us = now_us(s);
    name_peer(c);
    c->next = s->clients;
    s->clients = c;
    s->n_clients++;
    if ((r = sd_event_add_io(s->loop, &c->io, fd, EPOLLIN, on_client, c)) < 0 ||
        (r = sd_event_add_time_relative(s->loop, &c->timer, CLOCK_MONOTONIC, SLOW_S * USEC_PER_S, 0, on_slow,
                                        c)) < 0)
        client_drop(c);
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

/* `each` may reply, which may drop others, but not its own client. */
void server_each_waiting(struct server *s, void (*each)(void *ctx, struct client *c, uint64_t ticket))
{
    for (struct client *c = s->clients; c; c = c->next) {
        if (c->ticket != 0)
            each(s->ctx, c, c->ticket);
    }
}

/* ---- the socket ------------------------------------------------------------------------------ */

int server_start(sd_event *loop, const char *path, serve_fn serve, gone_fn gone, more_fn more, void *ctx,
                 struct server **ret, struct err *err)
{
    struct server *s = xcalloc(1, sizeof *s);
    int r = listener_open(path, &s->fd, err);

    if (r < 0) {
        free(s);
        return r;
    }
    s->loop = loop;
    s->path = xstrdup(path);
    s->serve = serve;
    s->gone = gone;
    s->more = more;
    s->ctx = ctx;
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
        struct client *c = s->clients;

        if (c->out) /* the last reply, as much as the socket takes */
            (void)send(c->fd, c->out->text.text + c->out_done, c->out->text.len - c->out_done,
                       MSG_NOSIGNAL | MSG_DONTWAIT);
        client_drop(c);
    }
    (void)sd_event_source_disable_unref(s->io);
    (void)unlink(s->path);
    (void)close(s->fd);
    free(s->path);
    free(s);
}
