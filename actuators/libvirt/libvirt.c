/* libvirt.c: the actuator's functions. Each is carried out in a thread of its own, for which the caller waits
 * no longer than cfg->timeout_s: libvirt's calls know no deadline. */
#include "actuators/libvirt/libvirt_actuator.h"

#include "actuators/libvirt/operations.h"
#include "base/job.h"
#include "base/thread.h"
#include "base/xalloc.h"
#include "net/http.h"
#include "net/libvirt/connections.h"
#include "net/libvirt/controls.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_DEFAULT_S 60
#define WAKE_MS 200 /* how often the waiting caller looks at *stop */

/* As the contract calls it: in front, `cfg`; in the thread, the others. */
struct actuator {
    const struct source_config *cfg;
    struct migrations *migrations;
    bool persistent_controls; /* of VMs: in their definitions, too */
};

/* ---- in the thread -------------------------------------------------------------------------------- */

static int check_request(const struct operation *q, struct err *err)
{
    if (!operation_is_of_vm(q->kind))
        return err_set(err, -ENOTSUP, "libvirt has no power control of hosts and no maintenance mode");
    return q->vm && q->to && (q->from || q->kind == OPERATION_POWER_ON_VM)
               ? 0
               : err_set(err, -EINVAL, "the request names no VM, source or destination");
}

/* Whether no VM is active on the host: -EBUSY. One that is on its way there is, from the moment in which the
 * host has agreed to take it. */
static int check_idle(struct migrations *m, const char *host, struct err *err)
{
    size_t at = migrations_host(m, host);
    virConnectPtr conn = NULL;

    if (at == SIZE_MAX)
        return err_set(err, -ENOENT, "host %s is not in source.hosts", host);
    int r = migrations_ask(m, at, net_now_ms(), err);
    if (r < 0)
        return r;
    if ((r = migrations_connect(m, at, net_now_ms() + MIGRATIONS_CONNECT_MS, &conn, err)) == 0) {
        int n = virConnectNumOfDomains(conn);

        r = n < 0   ? libvirt_connections_fail(err, host)
            : n > 0 ? err_set(err, -EBUSY, "%d VMs run on host %s, or are on their way there", n, host)
                    : 0;
        migrations_disconnect(m, at, conn);
    }
    migrations_answered(m, at, net_now_ms());
    return r;
}

/* Else its definition moves, and the VM is started or stays off. */
static bool migrates(const struct operation *q)
{
    return q->kind == OPERATION_MIGRATE && !q->off;
}

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    if (q->kind == OPERATION_STANDBY && q->power.by_controller)
        return check_idle(x->migrations, q->host, err);
    int r = check_request(q, err);

    if (r < 0)
        return r;
    return migrates(q) ? migrate_check(x->migrations, q, err) : power_on_check(x->migrations, q, err);
}

static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    int r = check_request(q, err);

    if (r < 0)
        return r;
    return migrates(q) ? migrate_start(x->migrations, q, ret_task, err)
                       : power_on_start(x->migrations, q, ret_task, err);
}

static int poll_task(struct actuator *x, const struct operation *q, const char *task,
                     struct task_progress *ret, struct err *err)
{
    struct task_name t;
    int r = task_name_read(task, &t, err);

    (void)q; /* the name says it all */
    return r < 0 ? r : follow_task(x->migrations, &t, ret, err);
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    struct task_name t;
    int r = task_name_read(task, &t, err);

    (void)q;
    if (r < 0)
        return r;
    return t.start ? power_on_cancel(x->migrations, &t, err) : migrate_cancel(x->migrations, &t, err);
}

static int apply_settings(struct actuator *x, const struct pool_settings *q, struct err *err)
{
    return scheduler_apply(x->migrations, q, x->persistent_controls, err);
}

static const struct actuator_ops in_thread = {
    .check = check, .start = start, .poll = poll_task, .cancel = cancel, .apply_settings = apply_settings};

/* ---- waiting for it ------------------------------------------------------------------------------- */

/* A job in its thread; freed by the last of the two that use it. */
struct bounded {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned holders;
    bool done;
    struct actuator x;
    struct job *job;
    struct job_result result;
};

static void release(struct bounded *b)
{
    (void)pthread_mutex_lock(&b->lock);
    bool last = --b->holders == 0;
    (void)pthread_mutex_unlock(&b->lock);
    if (!last)
        return;
    migrations_release(b->x.migrations);
    job_free(b->job);
    (void)pthread_cond_destroy(&b->ended);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
}

static void *run(void *arg)
{
    struct bounded *b = arg;
    struct job_result result;

    job_run(&in_thread, &b->x, b->job, &result);
    (void)pthread_mutex_lock(&b->lock);
    b->result = result;
    b->done = true;
    (void)pthread_cond_broadcast(&b->ended);
    (void)pthread_mutex_unlock(&b->lock);
    release(b);
    return NULL;
}

static struct bounded *bounded_new(const struct actuator *x, const struct job *job)
{
    struct bounded *b = xcalloc(1, sizeof *b);

    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->ended, NULL);
    b->holders = 2;
    b->x = *x;
    b->x.cfg = NULL;
    (void)migrations_hold(x->migrations);
    b->job = job_copy(job);
    return b;
}

static void wait_for(struct bounded *b, int64_t deadline_ms, const atomic_bool *stop)
{
    (void)pthread_mutex_lock(&b->lock);
    while (!b->done && net_now_ms() < deadline_ms && !(stop && *stop))
        (void)thread_wait(&b->ended, &b->lock, net_now_ms() + WAKE_MS);
    (void)pthread_mutex_unlock(&b->lock);
}

static int run_bounded(struct actuator *x, const struct job *job, struct job_result *ret, struct err *err)
{
    unsigned timeout_s = x->cfg->timeout_s ? x->cfg->timeout_s : TIMEOUT_DEFAULT_S;
    struct bounded *b = bounded_new(x, job);
    int r = thread_begin(run, b);

    if (r != 0) {
        b->holders = 1;
        release(b);
        return err_set(err, -EAGAIN, "no thread can be started: %s", strerror(-r));
    }
    wait_for(b, net_now_ms() + (int64_t)timeout_s * 1000, x->cfg->stop);
    (void)pthread_mutex_lock(&b->lock);
    if (b->done) {
        *ret = b->result;
        r = ret->code;
        if (r < 0 && err)
            *err = ret->err;
    } else if (x->cfg->stop && *x->cfg->stop) {
        r = err_set(err, -ECANCELED, "the service is stopping");
    } else {
        r = err_set(err, -ETIMEDOUT, "no answer of the KVM hosts within %u s", timeout_s);
    }
    (void)pthread_mutex_unlock(&b->lock);
    release(b);
    return r;
}

/* ---- the contract --------------------------------------------------------------------------------- */

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    const struct libvirt_shared *shared = cfg->shared;
    const struct libvirt_settings *settings = cfg->settings;
    struct actuator *x = xcalloc(1, sizeof *x);

    (void)err;
    x->cfg = cfg;
    x->migrations = migrations_hold(shared->migrations);
    x->persistent_controls = settings->cpu_controls == LIBVIRT_CONTROLS_PERSISTENT;
    *ret = x;
    return 0;
}

static void destroy(struct actuator *x)
{
    if (!x)
        return;
    migrations_release(x->migrations);
    free(x);
}

static int bounded_check(struct actuator *x, const struct operation *q, struct err *err)
{
    const struct job job = {.kind = JOB_CHECK, .operation = *q};
    struct job_result result;

    return run_bounded(x, &job, &result, err);
}

static int bounded_start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err)
{
    const struct job job = {.kind = JOB_START, .operation = *q};
    struct job_result result;
    int r = run_bounded(x, &job, &result, err);

    if (r == 0)
        memcpy(ret_task, result.task, TASK_NAME_MAX);
    return r;
}

static int bounded_poll(struct actuator *x, const struct operation *q, const char *task,
                        struct task_progress *ret, struct err *err)
{
    const struct job job = {.kind = JOB_POLL, .operation = *q, .task = task};
    struct job_result result;
    int r = run_bounded(x, &job, &result, err);

    if (r == 0)
        *ret = result.progress;
    return r;
}

static int bounded_cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    const struct job job = {.kind = JOB_CANCEL, .operation = *q, .task = task};
    struct job_result result;

    return run_bounded(x, &job, &result, err);
}

static int bounded_apply_settings(struct actuator *x, const struct pool_settings *q, struct err *err)
{
    const struct job job = {.kind = JOB_SET_POOLS, .pools = *q};
    struct job_result result;

    return run_bounded(x, &job, &result, err);
}

const struct actuator_ops libvirt_actuator = {
    .kind = "libvirt",
    .operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_MIGRATE_OFF | 1u << OPERATION_POWER_ON_VM |
                  1u << OPERATION_STANDBY_CHECK,
    .create = create,
    .check = bounded_check,
    .start = bounded_start,
    .poll = bounded_poll,
    .cancel = bounded_cancel,
    .apply_settings = bounded_apply_settings,
    .destroy = destroy,
};
