/* unit_thread.c: the thread that asks external units, and the engine's port in front of it. */
#include "daemon/threads/unit_thread.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum unit_job_kind { UNIT_JOB_END, UNIT_JOB_ASK, UNIT_JOB_CONFIGURE };

struct unit_job {
    struct queue_item item;
    enum unit_job_kind kind;
    uint64_t serial;
    const struct snapshot *snapshot; /* the engine keeps it until the answer */
    struct arena arena;              /* of list */
    struct unit_config *list;
    size_t n;
};

struct unit_port {
    pthread_t thread;
    const atomic_bool *stop;
    struct queue jobs;
    struct queue *news;
};

static void unit_job_free(struct queue_item *item)
{
    struct unit_job *job = (struct unit_job *)item;

    arena_release(&job->arena);
    free(job);
}

static struct unit_job *configuration(const struct unit_config *list, size_t n)
{
    struct unit_job *job = xcalloc(1, sizeof *job);

    job->kind = UNIT_JOB_CONFIGURE;
    job->list = arena_array(&job->arena, struct unit_config, n);
    job->n = n;
    for (size_t i = 0; i < n; i++)
        job->list[i] = (struct unit_config){.name = arena_strdup(&job->arena, list[i].name),
                                            .command = arena_list(&job->arena, list[i].command),
                                            .timeout_s = list[i].timeout_s};
    return job;
}

/* snapshot_build_answers() takes what comes back. */
static void answer(struct unit_port *t, struct units *units, const struct unit_job *job)
{
    struct news *n = xcalloc(1, sizeof *n);

    n->kind = NEWS_ANSWERS;
    n->serial = job->serial;
    units_ask(units, job->snapshot, job->snapshot->time, &n->collected.arena, &n->collected.inventory);
    queue_push(t->news, &n->item);
}

static void *unit_main(void *arg)
{
    struct unit_port *t = arg;
    struct unit_job *configured = NULL;
    struct units *units = NULL;
    bool ends = false;

    while (!ends) {
        struct unit_job *job = (struct unit_job *)queue_pop(&t->jobs);

        if (!job)
            break;
        ends = job->kind == UNIT_JOB_END;
        if (job->kind == UNIT_JOB_ASK)
            answer(t, units, job);
        if (job->kind == UNIT_JOB_CONFIGURE) {
            struct unit_job *former = configured;

            units_free(units);
            units = units_new(job->list, job->n, t->stop);
            configured = job;
            job = former;
        }
        if (job)
            unit_job_free(&job->item);
    }
    units_free(units);
    if (configured)
        unit_job_free(&configured->item);
    return NULL;
}

int unit_thread_start(const struct unit_config *list, size_t n, const atomic_bool *stop, struct queue *news,
                      struct unit_port **ret, struct err *err)
{
    struct unit_port *t = xcalloc(1, sizeof *t);
    int r;

    t->stop = stop;
    t->news = news;
    if ((r = queue_init(&t->jobs, true)) < 0) {
        free(t);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    unit_thread_configure(t, list, n);
    if ((r = pthread_create(&t->thread, NULL, unit_main, t)) != 0) {
        queue_release(&t->jobs, unit_job_free);
        free(t);
        return err_set(err, -r, "no thread to ask external units with: %s", strerror(r));
    }
    *ret = t;
    return 0;
}

void unit_thread_configure(struct unit_port *t, const struct unit_config *list, size_t n)
{
    queue_push(&t->jobs, &configuration(list, n)->item);
}

static void unit_thread_ask(struct unit_port *t, uint64_t serial, const struct snapshot *snapshot)
{
    struct unit_job *job = xcalloc(1, sizeof *job);

    job->kind = UNIT_JOB_ASK;
    job->serial = serial;
    job->snapshot = snapshot;
    queue_push(&t->jobs, &job->item);
}

const struct unit_port_ops unit_thread_port = {.ask = unit_thread_ask};

int unit_thread_stop(struct unit_port *t, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};

    if (!t)
        return 0;
    struct unit_job *job = xcalloc(1, sizeof *job);

    job->kind = UNIT_JOB_END;
    queue_push(&t->jobs, &job->item);
    return pthread_timedjoin_np(t->thread, NULL, &until) == 0 ? 0 : -ETIMEDOUT;
}

void unit_thread_free(struct unit_port *t)
{
    if (!t)
        return;
    queue_release(&t->jobs, unit_job_free);
    free(t);
}
