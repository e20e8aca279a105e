/* actuator_workers.c: the threads that change the cluster, and the engine's port to the actuators in front of
 * them. Which job goes to which of them is decided here; what a job does is the actuator's matter. */
#include "daemon/threads/actuator_workers.h"

#include "base/job.h"
#include "base/xalloc.h"
#include "daemon/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A proof made at the submission of a job has expired after this wait for a worker. */
#define PROVEN_HOLDS_US (30 * INT64_C(1000000))

/* Groups of workers; each takes jobs of one kind. */
enum lane {
    LANE_CLUSTER, /* jobs for the source's manager */
    LANE_METERS,
    /* Jobs for the hosts' own controllers. A dead controller blocks a worker until its timeout: a rack of
     * them must not delay migrations, and a hundred hosts may be woken at a time. */
    LANE_POWER,
    LANE_COUNT
};

static const size_t workers_of[LANE_COUNT] = {
    [LANE_CLUSTER] = 4,
    [LANE_METERS] = 4, /* the engine's limit of concurrent readings */
    [LANE_POWER] = 8,
};
#define WORKERS (4 + 4 + 8)

/* The parts of an actuator. Constant, and longer-lived than the actuators; a reload replaces the kit. */
struct kit {
    const struct actuator_ops *ops; /* NULL: no actuator */
    const struct source_config *cfg;
};

/* A job that waits for a worker. */
struct waiting_job {
    struct queue_item item;
    struct job *job;  /* NULL: the worker ends */
    struct kit kit;   /* for this job */
    int64_t given_us; /* time of submission on the steady clock */
};

struct worker {
    pthread_t thread;
    struct actuators *all;
    struct queue *jobs;        /* the jobs of its lane */
    struct kit kit;            /* the kit of `actuator`; used by the worker's thread only */
    struct actuator *actuator; /* used by the worker's thread only; NULL: creation failed */
    bool running;
};

struct actuators {
    struct kit kit; /* for new jobs */
    const atomic_bool *stop;
    struct worker workers[WORKERS]; /* by lane */
    struct queue jobs[LANE_COUNT];
    struct queue *news;
    const char *(*name)(void *ctx, const char *host); /* NULL: hosts have no names */
    void *name_ctx;
};

void actuator_workers_set_names(struct actuators *w, const char *(*name)(void *ctx, const char *host),
                                void *ctx)
{
    w->name = name;
    w->name_ctx = ctx;
}

static void waiting_free(struct queue_item *item)
{
    struct waiting_job *j = (struct waiting_job *)item;

    job_free(j->job);
    free(j);
}

static bool is_operation(const struct job *job)
{
    return job->kind != JOB_SET_POOLS && job->kind != JOB_MEASURE && job->kind != JOB_IDENTIFY;
}

/* ---- the threads ----------------------------------------------------------------------------- */

/* Replaces the worker's actuator if the job has another kit. */
static int refit(struct worker *w, const struct kit *kit, struct err *err)
{
    if (w->actuator && w->kit.ops == kit->ops && w->kit.cfg == kit->cfg)
        return 0;
    if (w->actuator)
        w->kit.ops->destroy(w->actuator);
    w->actuator = NULL;
    w->kit = *kit;
    return kit->ops->create(kit->cfg, &w->actuator, err);
}

/* Drops an expired proof: a job may have waited for minutes behind jobs for dead controllers. */
static void age_request(struct waiting_job *j)
{
    struct power_request *power = &j->job->operation.power;
    const int64_t waited_us = process_steady_us() - j->given_us;

    if (!is_operation(j->job))
        return;
    if (waited_us > PROVEN_HOLDS_US)
        power->proven_empty = false; /* the engine submits it again */
    if (power->now > 0)
        power->now += waited_us / (int64_t)USEC_PER_S;
}

static void run_job(struct worker *w, struct waiting_job *j)
{
    struct news *n = xcalloc(1, sizeof *n);

    age_request(j);
    n->kind = NEWS_JOB_RESULT;
    n->result.code = refit(w, &j->kit, &n->result.err);
    if (n->result.code == 0)
        job_run(w->kit.ops, w->actuator, j->job, &n->result);
    n->job = j->job;
    j->job = NULL;
    queue_push(w->all->news, &n->item);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    const atomic_bool *stop = w->all->stop;
    struct waiting_job *j;

    while ((j = (struct waiting_job *)queue_pop(w->jobs)) != NULL && j->job) {
        if (!stop || !atomic_load(stop)) /* else the job is not started: the next process submits it again */
            run_job(w, j);
        waiting_free(&j->item);
    }
    if (j)
        waiting_free(&j->item);
    if (w->actuator)
        w->kit.ops->destroy(w->actuator);
    return NULL;
}

static int worker_start(struct worker *w, const struct kit *kit, struct err *err)
{
    int r = refit(w, kit, err);

    if (r < 0)
        return r;
    r = pthread_create(&w->thread, NULL, worker_main, w);
    if (r != 0) {
        w->kit.ops->destroy(w->actuator);
        w->actuator = NULL;
        return err_set(err, -r, "no thread to act with: %s", strerror(r));
    }
    w->running = true;
    return 0;
}

static bool lane_is_used(enum lane lane, const struct actuator_ops *ops)
{
    switch (lane) {
    case LANE_CLUSTER:
        return ops;
    case LANE_METERS:
        return ops && ops->measure;
    case LANE_POWER:
        return ops && ops->power_may_block;
    case LANE_COUNT:
        break;
    }
    return false;
}

/* Starts the workers that the kit needs and that do not run yet. */
static int workers_start(struct actuators *all, const struct kit *kit, struct err *err)
{
    struct worker *w = all->workers;
    int r = 0;

    for (enum lane lane = 0; lane < LANE_COUNT; lane++) {
        for (size_t i = 0; r == 0 && i < workers_of[lane]; i++, w++) {
            if (w->running || !lane_is_used(lane, kit->ops))
                continue;
            w->all = all;
            w->jobs = &all->jobs[lane];
            r = worker_start(w, kit, err);
        }
    }
    return r;
}

int actuator_workers_change(struct actuators *w, const struct actuator_ops *ops,
                            const struct source_config *cfg, struct err *err)
{
    const struct kit kit = {.ops = ops, .cfg = cfg};
    int r = workers_start(w, &kit, err);

    if (r == 0)
        w->kit = kit;
    return r;
}

int actuator_workers_start(const struct actuator_ops *ops, const struct source_config *cfg,
                           struct queue *news, struct actuators **ret, struct err *err)
{
    struct actuators *w = xcalloc(1, sizeof *w);

    w->kit = (struct kit){.ops = ops, .cfg = cfg};
    w->stop = cfg->stop;
    w->news = news;
    for (size_t i = 0; i < LANE_COUNT; i++) {
        int r = queue_init(&w->jobs[i], true);

        if (r == 0)
            continue;
        while (i-- > 0)
            queue_release(&w->jobs[i], waiting_free);
        free(w);
        return err_set(err, r, "no descriptor for a queue: %s", strerror(-r));
    }
    int r = workers_start(w, &w->kit, err);

    if (r < 0) {
        (void)actuator_workers_stop(w, INT32_MAX); /* the workers have no jobs yet */
        actuator_workers_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

/* ---- the port -------------------------------------------------------------------------------- */

/* -ENOTSUP: the actuator does not support the job. */
static int check_able(const struct actuator_ops *ops, const struct job *job, struct err *err)
{
    if (job->kind == JOB_MEASURE)
        return ops && ops->measure ? 0 : err_set(err, -ENOTSUP, "this kind of source has no meters");
    if (job->kind == JOB_IDENTIFY)
        return ops && ops->identify ? 0 : err_set(err, -ENOTSUP, "no host has a controller of its own");
    if (job->kind == JOB_SET_POOLS)
        return ops && ops->apply_settings
                   ? 0
                   : err_set(err, -ENOTSUP,
                             "this kind of source has no pools on its hosts that could be set");
    return ops ? 0 : err_set(err, -ENOTSUP, "this kind of source can only be looked at");
}

static enum lane lane_of(const struct actuator_ops *ops, const struct job *job)
{
    if (job->kind == JOB_MEASURE)
        return LANE_METERS;
    bool power = job->kind == JOB_IDENTIFY ||
                 (is_operation(job) &&
                  (job->operation.kind == OPERATION_STANDBY || job->operation.kind == OPERATION_WAKE));

    return power && ops->power_may_block ? LANE_POWER : LANE_CLUSTER;
}

static void name_host(const struct actuators *w, const char *host, const char **ret_name)
{
    *ret_name = w->name && host ? xstrdup(w->name(w->name_ctx, host)) : NULL;
}

static int submit(struct actuators *w, const struct job *job, struct err *err)
{
    int r = check_able(w->kit.ops, job, err);

    if (r < 0)
        return r;
    struct waiting_job *j = xcalloc(1, sizeof *j);

    j->job = job_copy(job);
    j->kit = w->kit;
    j->given_us = process_steady_us();
    if (job->kind == JOB_MEASURE)
        name_host(w, job->measure.host, &j->job->measure.host_name);
    else if (job->kind == JOB_IDENTIFY)
        name_host(w, job->identify.host, &j->job->identify.host_name);
    else if (is_operation(job))
        name_host(w, job->operation.host, &j->job->operation.host_name);
    queue_push(&w->jobs[lane_of(w->kit.ops, job)], &j->item);
    return 0;
}

const struct actuators_ops actuator_workers_port = {.submit = submit};

/* ---- the end --------------------------------------------------------------------------------- */

int actuator_workers_stop(struct actuators *w, int64_t deadline_s)
{
    const struct timespec until = {.tv_sec = deadline_s};
    bool all = true;

    if (!w)
        return 0;
    for (size_t i = 0; i < WORKERS; i++) {
        struct waiting_job *end = w->workers[i].running ? xcalloc(1, sizeof *end) : NULL;

        if (end)
            queue_push(w->workers[i].jobs, &end->item);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        if (!w->workers[i].running)
            continue;
        if (pthread_timedjoin_np(w->workers[i].thread, NULL, &until) != 0)
            all = false;
        else
            w->workers[i].running = false;
    }
    return all ? 0 : -ETIMEDOUT;
}

void actuator_workers_free(struct actuators *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < LANE_COUNT; i++)
        queue_release(&w->jobs[i], waiting_free);
    free(w);
}
