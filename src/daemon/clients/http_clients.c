/* http_clients.c: brings requests from HTTP's threads to the main thread, and answers back. */
#include "daemon/clients/http_clients.h"

#include "base/built.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "daemon/events/event_json.h"
#include "daemon/process.h"
#include "daemon/queue.h"
#include "store/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define AT_ONCE_US INT64_C(20000) /* then timers and other clients are served */
#define TICK_S 1                  /* so soon a stream ends whose token has expired */
#define EVENTS_AT_ONCE 500

/* A request and its client. */
struct http_client {
    struct client is; /* first */
    struct queue_item item;
    struct http_call *call;
    struct http_clients *of;
    sd_event_source *hang_up; /* while it waits; NULL */
};

struct http_clients {
    struct http_clients_options is;
    struct http *server;
    struct queue queue;
    bool queue_open;
    sd_event_source *io, *timer;
};

/* ---- answers ---------------------------------------------------------------------------------- */

static void reply(struct client *is, struct shared_text *text)
{
    struct http_client *c = (struct http_client *)is;

    (void)sd_event_source_disable_unref(c->hang_up); /* before the connection may end */
    http_answer(c->call, text);
    free(c);
}

static void refuse(struct client *is, const struct err *err)
{
    struct http_client *c = (struct http_client *)is;

    (void)sd_event_source_disable_unref(c->hang_up);
    http_refuse(c->call, err);
    free(c);
}

static int on_hang_up(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct http_client *c = userdata;
    uint64_t ticket = client_stop_waiting(&c->is);
    struct err err;

    (void)source, (void)fd, (void)revents;
    c->of->is.gone(c->of->is.ctx, ticket);
    (void)err_set(&err, -EUSERS, "the client has hung up");
    refuse(&c->is, &err);
    return 0;
}

/* libmicrohttpd does not look at a connection whose request is being answered. One that closes its sending
 * side is taken for one that has hung up, as web servers do. */
static void watch_for_hang_up(struct client *is)
{
    struct http_client *c = (struct http_client *)is;
    int fd = http_call_fd(c->call);

    if (fd >= 0)
        (void)sd_event_add_io(c->of->is.loop, &c->hang_up, fd, EPOLLRDHUP, on_hang_up, c);
}

static const struct client_ops http_client_ops = {
    .reply = reply, .refuse = refuse, .waits = watch_for_hang_up};

/* ---- requests --------------------------------------------------------------------------------- */

static struct http_client *client_of(struct queue_item *item)
{
    return (struct http_client *)(void *)((char *)item - offsetof(struct http_client, item));
}

/* In a thread of HTTP. */
static void ask(void *ctx, struct http_call *call)
{
    struct http_clients *h = ctx;
    struct http_client *c = xcalloc(1, sizeof *c);

    c->is.ops = &http_client_ops;
    c->is.all = h->is.clients;
    c->is.role = http_call_role(call);
    (void)snprintf(c->is.who, sizeof c->is.who, "%s", http_call_who(call));
    (void)snprintf(c->is.person, sizeof c->is.person, "%s", http_call_person(call));
    c->call = call;
    c->of = h;
    queue_push(&h->queue, &c->item);
}

static int on_requests(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    struct http_clients *h = userdata;
    const int64_t until_us = process_steady_us() + AT_ONCE_US;
    struct queue_item *item;

    (void)source, (void)fd, (void)revents;
    while (process_steady_us() < until_us && (item = queue_pop(&h->queue)) != NULL) {
        struct http_client *c = client_of(item);

        h->is.serve(h->is.ctx, &c->is, http_call_request(c->call));
    }
    return 0;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct http_clients *h = userdata;

    (void)usec;
    http_tick(h->server);
    (void)sd_event_source_set_time_relative(source, TICK_S * USEC_PER_S);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

/* ---- start and stop --------------------------------------------------------------------------- */

static int start(struct http_clients *h, struct err *err)
{
    const struct config *c = h->is.config;
    struct http_options options = {.listen_text = c->http.listen,
                                   .cluster = c->cluster,
                                   .cert_file = c->http.cert_file,
                                   .key_file = c->http.key_file,
                                   .connections = (unsigned)c->http.connections,
                                   .per_address = (unsigned)c->http.connections_per_address,
                                   .session_s = c->http.session_s,
                                   .session_idle_s = c->http.session_idle_s,
                                   .ask = ask,
                                   .ctx = h};
    char pages[PATH_MAX];
    int r = queue_init(&h->queue, false);

    if (r < 0)
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    h->queue_open = true;
    if ((r = built_path("/src/daemon/ballastd", "pages", pages)) < 0)
        return err_set(err, r, "the folder of the dashboard: %s", strerror(-r));
    options.pages = pages;
    if (listen_address_parse(c->http.listen, &options.listen) < 0)
        return err_set(err, -EINVAL, "http.listen: \"%s\" is no address", c->http.listen);
    if ((r = sd_event_add_io(h->is.loop, &h->io, h->queue.fd, EPOLLIN, on_requests, h)) < 0 ||
        (r = sd_event_add_time_relative(h->is.loop, &h->timer, CLOCK_MONOTONIC, TICK_S * USEC_PER_S, 0,
                                        on_tick, h)) < 0)
        return err_set(err, r, "HTTP cannot be waited for: %s", strerror(-r));
    r = http_start(&options, &h->server, err);
    http_set_newest_event(h->server, h->is.newest);
    return r;
}

int http_clients_start(const struct http_clients_options *options, struct http_clients **ret, struct err *err)
{
    if (!options->config->http.listen)
        return 0;
    *ret = xcalloc(1, sizeof **ret);
    (*ret)->is = *options;
    return start(*ret, err);
}

/* Placements of clients that will get no answer are withdrawn. */
static void refuse_waiting(struct http_clients *h)
{
    struct client *c, *next;
    struct err err;

    (void)err_set(&err, -EUSERS, "the service is stopping");
    for (c = h->is.clients->waiting; c; c = next) {
        next = c->next;
        if (c->ops != &http_client_ops)
            continue;
        h->is.gone(h->is.ctx, c->ticket);
        client_refuse(c, &err);
    }
    for (struct queue_item *item; (item = queue_pop(&h->queue)) != NULL;)
        client_refuse(&client_of(item)->is, &err);
}

void http_clients_stop(struct http_clients *h)
{
    if (!h)
        return;
    http_stop_asking(h->server);
    if (h->queue_open)
        refuse_waiting(h);
    http_stop(h->server);
    if (h->queue_open)
        queue_release(&h->queue, NULL);
    (void)sd_event_source_disable_unref(h->io);
    (void)sd_event_source_disable_unref(h->timer);
    free(h);
}

/* Each event is read once, however many streams there are. */
void http_clients_update(struct http_clients *h, struct store *store, uint64_t newest)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct event_record *list = NULL;
    struct err err = {0};
    size_t n = 0;

    if (!h || h->is.newest >= newest)
        return;
    const struct event_query q = {.after = h->is.newest, .limit = EVENTS_AT_ONCE};

    if (store_list_events(store, &q, &a, &list, &n, &err) < 0)
        return; /* tried again at the next event; a stream that has missed some ends, and its client comes
                   back */
    for (size_t i = 0; i < n; i++) {
        CLEANUP(strbuf_releasep) struct strbuf json = STRBUF_EMPTY;

        event_json_record(&list[i], &json);
        http_add_event(h->server, list[i].id, json.text);
        h->is.newest = list[i].id;
    }
}

struct http *http_clients_server(struct http_clients *h)
{
    return h ? h->server : NULL;
}
