/* server.c: the Unix socket: accepts clients, reads lines, sends replies, drops slow clients. It does not
 * know what a line means. */
#include "daemon/server.h"

#include "base/log.h"
#include "base/xalloc.h"
#include "daemon/request.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 64
#define BACKLOG 128
#define SLOW_S 30   /* to complete a request, or to read part of a reply */
#define WAIT_S 3600 /* for a pass, or a placement */
#define USEC_PER_S ((uint64_t)1000000)

struct client {
    struct client *next;
    struct server *server;
    int fd;
    sd_event_source *io, *timer;
    char *in; /* REQUEST_BYTES_MAX + 1: a whole line and its end */
    size_t in_len;
    struct strbuf out;
    size_t out_done;
    uint64_t ticket; /* the client waits for this; 0: does not wait */
    bool last;       /* close once the reply is sent */
    bool streams;    /* waits, and gets lines meanwhile */
    char who[64];
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
};

/* ---- clients --------------------------------------------------------------------------------- */

static void client_drop(struct client *c)
{
    struct client **at = &c->server->clients;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->server->n_clients--;
    if (c->ticket != 0)
        c->server->gone(c->server->ctx, c->ticket);
    (void)sd_event_source_disable_unref(c->io);
    (void)sd_event_source_disable_unref(c->timer);
    (void)close(c->fd);
    free(c->in);
    strbuf_release(&c->out);
    free(c);
}

static int on_slow(sd_event_source *source, uint64_t usec, void *userdata)
{
    const struct client *c = userdata;

    (void)source, (void)usec;
    if (c->streams)
        log_notice("%s followed events and did not take them for %d s: dropped", c->who, SLOW_S);
    client_drop(userdata);
    return 0;
}

static void allow(struct client *c, uint64_t seconds)
{
    (void)sd_event_source_set_time_relative(c->timer, seconds * USEC_PER_S);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

static bool busy(const struct client *c)
{
    return c->ticket != 0 || c->out_done < c->out.len;
}

/* Waits for the client to read its reply, else for a request, else for the end of the connection. */
static void listen_for(struct client *c)
{
    uint32_t events = c->out_done < c->out.len ? EPOLLOUT : c->ticket != 0 ? 0 : EPOLLIN;

    (void)sd_event_source_set_io_events(c->io, events);
}

/* Sends as much as the socket takes. False: the client is gone. */
static bool flush(struct client *c)
{
    while (c->out_done < c->out.len) {
        ssize_t n =
            send(c->fd, c->out.text + c->out_done, c->out.len - c->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            client_drop(c);
            return false;
        }
        c->out_done += (size_t)n;
        allow(c, SLOW_S);
    }
    if (c->out_done == c->out.len) {
        strbuf_release(&c->out); /* a snapshot may have been large */
        strbuf_init(&c->out, STRBUF_NO_LIMIT);
        c->out_done = 0;
        if (c->last) {
            client_drop(c);
            return false;
        }
        if (c->streams) {
            (void)sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
            c->server->more(c->server->ctx, c, c->ticket);
        }
    }
    return true;
}

static void add_line(struct client *c, const struct strbuf *text)
{
    size_t len = text->len;

    while (len > 0 && text->text[len - 1] == '\n') /* the server adds the newline */
        len--;
    strbuf_add(&c->out, text->text, len);
    strbuf_puts(&c->out, "\n");
    allow(c, SLOW_S);
    listen_for(c); /* sent from the loop, so that the caller's client is not freed during its call */
}

void server_reply(struct client *c, const struct strbuf *text)
{
    c->ticket = 0;
    add_line(c, text);
}

void server_stream(struct client *c, const struct strbuf *text)
{
    c->streams = true;
    add_line(c, text);
}

bool server_client_took_all(const struct client *c)
{
    return c->out_done == c->out.len;
}

void server_wait(struct client *c, uint64_t ticket)
{
    c->ticket = ticket;
    allow(c, WAIT_S);
    listen_for(c);
}

const char *server_client_user(const struct client *c)
{
    return c->who;
}

static void refuse(struct client *c, const char *sentence)
{
    strbuf_printf(&c->out, "{\"ok\": false, \"code\": 2, \"error\": \"%s\"}\n", sentence);
    c->last = true;
    listen_for(c);
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

static void name_peer(int fd, char *ret, size_t size)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[2048];

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
        (void)snprintf(ret, size, "somebody");
        return;
    }
    if (getpwuid_r(cred.uid, &entry, buffer, sizeof buffer, &found) == 0 && found)
        (void)snprintf(ret, size, "%.40s (uid %u)", entry.pw_name, (unsigned)cred.uid);
    else
        (void)snprintf(ret, size, "uid %u", (unsigned)cred.uid);
}

static int client_add(struct server *s, int fd)
{
    struct client *c = xcalloc(1, sizeof *c);
    int r;

    c->server = s;
    c->fd = fd;
    strbuf_init(&c->out, STRBUF_NO_LIMIT);
    c->in = xcalloc(1, REQUEST_BYTES_MAX + 1);
    name_peer(fd, c->who, sizeof c->who);
    c->next = s->clients;
    s->clients = c;
    s->n_clients++;
    if ((r = sd_event_add_io(s->loop, &c->io, fd, EPOLLIN, on_client, c)) < 0 ||
        (r = sd_event_add_time_relative(s->loop, &c->timer, CLOCK_MONOTONIC, SLOW_S * USEC_PER_S, 0, on_slow,
                                        c)) < 0) {
        client_drop(c);
        return r;
    }
    if (s->n_clients > CLIENTS_MAX)
        refuse(c, "too many connections at a time");
    return 0;
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

void server_each_waiting(struct server *s, void (*each)(void *ctx, struct client *c, uint64_t ticket))
{
    for (struct client *c = s->clients; c; c = c->next) {
        if (c->ticket != 0)
            each(s->ctx, c, c->ticket);
    }
}

/* ---- the socket ------------------------------------------------------------------------------ */

static int make_directory(const char *path, struct err *err)
{
    char copy[PATH_MAX];

    (void)snprintf(copy, sizeof copy, "%s", path);
    const char *dir = dirname(copy);

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno, "the directory %s for the socket cannot be made: %m", dir);
    return 0;
}

/* Removes a socket without a listener. Any other file in its place is an error. */
static int clear_place(const struct sockaddr_un *address, struct err *err)
{
    struct stat st;
    int r = 0;

    if (lstat(address->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %m", address->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, -EEXIST, "%s is there already and is not a socket", address->sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return err_set(err, -errno, "no socket: %m");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN)
        r = err_set(err, -EADDRINUSE, "another ballastd listens on %s", address->sun_path);
    else if (errno != ECONNREFUSED && errno != ENOENT)
        r = err_set(err, -errno, "%s: %m", address->sun_path);
    else if (unlink(address->sun_path) < 0 && errno != ENOENT)
        r = err_set(err, -errno, "the old socket %s cannot be removed: %m", address->sun_path);
    (void)close(fd);
    return r;
}

static int open_socket(const char *path, int *ret, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int r;

    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, -ENAMETOOLONG, "%s: longer than the %zu bytes that a socket's path may have",
                       path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if ((r = make_directory(path, err)) < 0 || (r = clear_place(&address, err)) < 0)
        return r;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return err_set(err, -errno, "no socket: %m");
    mode_t mask = umask(0117); /* mode 0660 from the start */

    r = bind(fd, (const struct sockaddr *)&address, sizeof address);
    int code = errno;

    (void)umask(mask);
    if (r < 0 || listen(fd, BACKLOG) < 0) {
        code = r < 0 ? code : errno;
        (void)close(fd);
        return err_set(err, -code, "%s cannot be listened on: %s", path, strerror(code));
    }
    *ret = fd;
    return 0;
}

int server_start(sd_event *loop, const char *path, serve_fn serve, gone_fn gone, more_fn more, void *ctx,
                 struct server **ret, struct err *err)
{
    struct server *s = xcalloc(1, sizeof *s);
    int r = open_socket(path, &s->fd, err);

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

        if (c->out_done < c->out.len) /* the last reply, as much as the socket takes */
            (void)send(c->fd, c->out.text + c->out_done, c->out.len - c->out_done,
                       MSG_NOSIGNAL | MSG_DONTWAIT);
        client_drop(c);
    }
    (void)sd_event_source_disable_unref(s->io);
    (void)unlink(s->path);
    (void)close(s->fd);
    free(s->path);
    free(s);
}
