/* plugin.c: the contracts by which a simulated cluster is looked at and acted on, kind "simulated". */
#include "sim/cluster/cluster_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { DEAF_SOURCE, DEAF_ACTUATOR };

static int check_config(const struct source_config *cfg, struct err *err)
{
    return cfg->simulated ? 0 : err_set(err, -EINVAL, "source simulated: there is no simulated cluster");
}

static int check_deaf(const struct cluster *c, int who, struct err *err)
{
    return c->now_s < c->deaf_until_s[who]
               ? err_set(err, -ECONNREFUSED, "the simulated cluster does not answer")
               : 0;
}

/* ---- the collector ---- */

struct collector {
    struct cluster *c;
};

static int collector_create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    int r = check_config(cfg, err);

    if (r < 0)
        return r;
    struct collector *x = calloc(1, sizeof *x);

    if (!x)
        return err_set(err, -ENOMEM, "out of memory");
    x->c = cfg->simulated;
    *ret = x;
    return 0;
}

static int collect(struct collector *x, struct arena *a, struct inventory *ret, struct err *err)
{
    int r = check_deaf(x->c, DEAF_SOURCE, err);

    if (r == 0)
        describe(x->c, a, ret);
    return r;
}

static void collector_destroy(struct collector *x)
{
    free(x);
}

const struct collector_ops cluster_collector = {
    .kind = "simulated",
    .create = collector_create,
    .collect = collect,
    .destroy = collector_destroy,
};

/* ---- the actuator ---- */

struct actuator {
    struct cluster *c;
};

static int actuator_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    int r = check_config(cfg, err);

    if (r < 0)
        return r;
    struct actuator *x = calloc(1, sizeof *x);

    if (!x)
        return err_set(err, -ENOMEM, "out of memory");
    x->c = cfg->simulated;
    *ret = x;
    return 0;
}

static int check(struct actuator *x, const struct operation *request, struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    return r < 0 ? r : operation_check(x->c, request, err);
}

static int start(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                 struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    return r < 0 ? r : operation_start(x->c, request, ret_task, err);
}

static int poll_task(struct actuator *x, const struct operation *request, const char *name,
                     struct task_progress *ret, struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    (void)request;
    if (r < 0)
        return r;
    const struct task *t = task_find(x->c, name);

    *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1, .gone = !t};
    if (!t) {
        (void)err_set(&ret->why, -ENOENT, "The task %s is not known.", name);
        return 0;
    }
    ret->state = t->state;
    ret->percent = task_percent(x->c, t);
    if (t->state == TASK_FAILED)
        (void)err_set(&ret->why, t->code, "%s", t->why);
    return 0;
}

static int cancel(struct actuator *x, const struct operation *request, const char *task, struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    (void)request;
    return r < 0 ? r : operation_cancel(x->c, task, err);
}

static int apply_settings(struct actuator *x, const struct pool_settings *request, struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    if (r < 0 || (r = parts_apply(x->c, request, err)) < 0)
        return r;
    settle_world(x->c);
    return 0;
}

static int measure_host(struct actuator *x, const struct measurement *q, double *ret_w, struct err *err)
{
    int r = check_deaf(x->c, DEAF_ACTUATOR, err);

    return r < 0 ? r : meter_read(x->c, q->host, ret_w, err);
}

static void actuator_destroy(struct actuator *x)
{
    free(x);
}

const struct actuator_ops cluster_actuator = {
    .kind = "simulated",
    .operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_ENTER_MAINTENANCE |
                  1u << OPERATION_EXIT_MAINTENANCE | 1u << OPERATION_STANDBY | 1u << OPERATION_WAKE |
                  1u << OPERATION_POWER_ON_VM,
    .create = actuator_create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .apply_settings = apply_settings,
    .measure = measure_host,
    .destroy = actuator_destroy,
};
