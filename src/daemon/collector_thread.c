/* collector_thread.c: the thread that reads the cluster, and the engine's source port in front of it. */
#include "daemon/collector_thread.h"

#include "base/clock.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct look {
    struct queue_item item;
    uint64_t serial; /* 0: the thread ends */
};

struct source {
    pthread_t thread;
    const struct collector_ops *ops;
    struct collector *collector; /* used by the thread only */
    struct queue looks;
    struct queue *news;
};

static void look_free(struct queue_item *item)
{
    free(item);
}

static void *collector_main(void *arg)
{
    struct source *s = arg;

    for (;;) {
        struct look *look = (struct look *)queue_pop(&s->looks);
        uint64_t serial = look ? look->serial : 0;

        free(look);
        if (serial == 0)
            break;
        struct news *n = xcalloc(1, sizeof *n);

        n->serial = serial;
        n->kind = NEWS_INVENTORY;
        n->took_us = -clock_us(CLOCK_MONOTONIC);
        if (s->ops->collect(s->collector, &n->collected.arena, &n->collected.inventory, &n->err) < 0) {
            n->kind = NEWS_SOURCE_ERROR;
            arena_release(&n->collected.arena);
            n->collected = (struct collected){0};
        }
        n->took_us += clock_us(CLOCK_MONOTONIC);
        queue_push(s->news, &n->item);
    }
    s->ops->destroy(s->collector);
    return NULL;
}

int collector_thread_start(const struct collector_ops *ops, const struct source_config *cfg,
                           struct queue *news, struct source **ret, struct err *err)
{
    struct source *s = xcalloc(1, sizeof *s);
    int r;

    s->ops = ops;
    s->news = news;
    if ((r = ops->create(cfg, &s->collector, err)) < 0) {
        free(s);
        return r;
    }
    if ((r = queue_init(&s->looks, true)) < 0) {
        (void)err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
        ops->destroy(s->collector);
        free(s);
        return r;
    }
    if ((r = pthread_create(&s->thread, NULL, collector_main, s)) != 0) {
        (void)err_set(err, -r, "no thread to collect with: %s", strerror(r));
        queue_release(&s->looks, look_free);
        ops->destroy(s->collector);
        free(s);
        return -r;
    }
    *ret = s;
    return 0;
}

static int collecting_ask(struct source *s, uint64_t serial, struct err *err)
{
    struct look *look = xcalloc(1, sizeof *look);

    (void)err;
    look->serial = serial;
    queue_push(&s->looks, &look->item);
    return 0;
}

const struct source_ops collector_thread_port = {.ask = collecting_ask};

int collector_thread_stop(struct source *s, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (!s)
        return 0;
    (void)collecting_ask(s, 0, NULL);
    if (pthread_timedjoin_np(s->thread, NULL, &until) != 0)
        return -ETIMEDOUT;
    return 0;
}

void collector_thread_free(struct source *s)
{
    if (!s)
        return;
    queue_release(&s->looks, look_free);
    free(s);
}
