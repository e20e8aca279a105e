/* requests.c: the requests of a collector and an actuator; each fails while a fault makes the cluster not
 * answer. */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>

enum { DEAF_SOURCE, DEAF_ACTUATOR };

static int check_deaf(const struct cluster *c, int who, struct err *err)
{
    return c->now_s < c->deaf_until_s[who]
               ? err_set(err, -ECONNREFUSED, "the simulated cluster does not answer")
               : 0;
}

int cluster_collect(struct cluster *c, struct arena *a, struct inventory *ret, struct err *err)
{
    int r = check_deaf(c, DEAF_SOURCE, err);

    if (r == 0)
        describe_cluster(c, a, ret);
    return r;
}

int cluster_check(struct cluster *c, const struct operation *q, struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    return r < 0 ? r : task_check_operation(c, q, err);
}

int cluster_start(struct cluster *c, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    return r < 0 ? r : task_start_operation(c, q, ret_task, err);
}

int cluster_poll(struct cluster *c, const char *name, struct task_progress *ret, struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    if (r < 0)
        return r;
    const struct task *t = task_find(c, name);

    *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1, .gone = !t};
    if (!t) {
        (void)err_set(&ret->why, -ENOENT, "The task %s is not known.", name);
        return 0;
    }
    task_tell(c, t, ret);
    return 0;
}

int cluster_cancel(struct cluster *c, const char *task, struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    return r < 0 ? r : task_cancel_operation(c, task, err);
}

int cluster_set_pools(struct cluster *c, const struct pool_settings *q, struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    if (r < 0 || (r = per_host_pools_apply(c, q, err)) < 0)
        return r;
    cluster_recompute(c);
    return 0;
}

int cluster_measure(struct cluster *c, const char *host, double *ret_w, struct err *err)
{
    int r = check_deaf(c, DEAF_ACTUATOR, err);

    return r < 0 ? r : power_meter_read(c, host, ret_w, err);
}

void cluster_run_job(struct cluster *c, const struct job *j, struct job_result *ret)
{
    *ret = (struct job_result){0};
    switch (j->kind) {
    case JOB_CHECK:
        ret->code = cluster_check(c, &j->operation, &ret->err);
        return;
    case JOB_START:
        ret->code = cluster_start(c, &j->operation, ret->task, &ret->err);
        return;
    case JOB_POLL:
        ret->code = cluster_poll(c, j->task, &ret->progress, &ret->err);
        return;
    case JOB_CANCEL:
        ret->code = cluster_cancel(c, j->task, &ret->err);
        return;
    case JOB_SET_POOLS:
        ret->code = cluster_set_pools(c, &j->pools, &ret->err);
        return;
    case JOB_MEASURE:
        ret->code = cluster_measure(c, j->measure.host, &ret->watts, &ret->err);
        return;
    case JOB_IDENTIFY: /* its hosts have no controllers of their own */
        ret->code = err_set(&ret->err, -ENOTSUP, "no host has a controller of its own");
        return;
    }
}
