/* collector_thread.c: the thread that reads the cluster, and the engine's source port in front of it. */
#include "daemon/threads/collector_thread.h"

#include "base/clock.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct collect_job {
    struct queue_item item;
    uint64_t serial; /* 0: the thread ends */
};

struct source {
    pthread_t thread;
    const struct collector_ops *ops;
    struct collector *collector; /* used by the thread only */
    struct source_config cfg;
    atomic_bool change_told; /* since the last collection began: once is enough */
    struct queue jobs;
    struct queue *news;
};

static void collect_job_free(struct queue_item *item)
{
    free(item);
}

/* Any thread. */
static void tell_change(void *ctx)
{
    struct source *s = ctx;

    if (atomic_exchange(&s->change_told, true))
        return;
    struct news *n = xcalloc(1, sizeof *n);

    n->kind = NEWS_SOURCE_CHANGED;
    queue_push(s->news, &n->item);
}

static void *collector_main(void *arg)
{
    struct source *s = arg;

    for (;;) {
        struct collect_job *job = (struct collect_job *)queue_pop(&s->jobs);
        uint64_t serial = job ? job->serial : 0;

        free(job);
        if (serial == 0)
            break;
        struct news *n = xcalloc(1, sizeof *n);

        n->serial = serial;
        n->kind = NEWS_INVENTORY;
        n->took_us = -clock_us(CLOCK_MONOTONIC);
        atomic_store(&s->change_told, false); /* what changes from now on may not be in it */
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
    s->cfg = *cfg;
    s->cfg.changed = tell_change;
    s->cfg.changed_ctx = s;
    if ((r = ops->create(&s->cfg, &s->collector, err)) < 0) {
        free(s);
        return r;
    }
    if ((r = queue_init(&s->jobs, true)) < 0) {
        (void)err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
        ops->destroy(s->collector);
        free(s);
        return r;
    }
    if ((r = pthread_create(&s->thread, NULL, collector_main, s)) != 0) {
        (void)err_set(err, -r, "no thread to collect with: %s", strerror(r));
        queue_release(&s->jobs, collect_job_free);
        ops->destroy(s->collector);
        free(s);
        return -r;
    }
    *ret = s;
    return 0;
}

static int collecting_ask(struct source *s, uint64_t serial, struct err *err)
{
    struct collect_job *job = xcalloc(1, sizeof *job);

    (void)err;
    job->serial = serial;
    queue_push(&s->jobs, &job->item);
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
    queue_release(&s->jobs, collect_job_free);
    free(s);
}
