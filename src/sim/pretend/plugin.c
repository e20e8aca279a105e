#include "sim/pretend/pretend_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the collector ---- */

struct collector {
    struct pretend *p;
};

static int check_config(const struct source_config *cfg, struct err *err)
{
    return cfg->pretend ? 0 : err_set(err, -EINVAL, "source sim: there is no pretend cluster");
}

/* Nobody at home. Called with the lock held. */
static int check_deaf(const struct pretend *p, struct err *err)
{
    return p->deaf ? err_set(err, -ECONNREFUSED, "the pretend cluster does not answer") : 0;
}

static int collector_create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    int r = check_config(cfg, err);

    if (r < 0)
        return r;
    struct collector *c = calloc(1, sizeof *c);

    if (!c)
        return err_set(err, -ENOMEM, "out of memory");
    c->p = cfg->pretend;
    *ret = c;
    return 0;
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    (void)pthread_mutex_lock(&c->p->lock);
    pretend_settle(c->p);
    int r = check_deaf(c->p, err);

    if (r == 0)
        pretend_describe(c->p, a, ret);
    (void)pthread_mutex_unlock(&c->p->lock);
    return r;
}

static void collector_destroy(struct collector *c)
{
    free(c);
}

const struct collector_ops pretend_collector = {
    .kind = "sim",
    .create = collector_create,
    .collect = collect,
    .destroy = collector_destroy,
};

/* ---- the actuator ---- */

struct actuator {
    struct pretend *p;
};

static int actuator_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    int r = check_config(cfg, err);

    if (r < 0)
        return r;
    struct actuator *x = calloc(1, sizeof *x);

    if (!x)
        return err_set(err, -ENOMEM, "out of memory");
    x->p = cfg->pretend;
    *ret = x;
    return 0;
}

static int check(struct actuator *x, const struct deed_request *request, struct err *err)
{
    (void)pthread_mutex_lock(&x->p->lock);
    pretend_settle(x->p);
    int r = check_deaf(x->p, err);

    if (r == 0)
        r = pretend_check(x->p, request, err);
    (void)pthread_mutex_unlock(&x->p->lock);
    return r;
}

static int start(struct actuator *x, const struct deed_request *request, char ret_task[TASK_NAME_MAX],
                 struct err *err)
{
    (void)pthread_mutex_lock(&x->p->lock);
    pretend_settle(x->p);
    int r = check_deaf(x->p, err);

    if (r == 0)
        r = pretend_start(x->p, request, ret_task, err);
    (void)pthread_mutex_unlock(&x->p->lock);
    return r;
}

static int poll_task(struct actuator *x, const struct deed_request *request, const char *task,
                     struct task_progress *ret, struct err *err)
{
    (void)request;
    (void)pthread_mutex_lock(&x->p->lock);
    pretend_settle(x->p);
    int r = check_deaf(x->p, err);

    if (r == 0) {
        const struct task *t = pretend_find_task(x->p, task);

        *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1, .gone = !t};
        if (t) {
            ret->state = t->state;
            ret->percent = pretend_percent(x->p, t);
            ret->why = t->why;
        } else {
            (void)err_set(&ret->why, -ENOENT, "The task %s is not known.", task);
        }
    }
    (void)pthread_mutex_unlock(&x->p->lock);
    return r;
}

static int cancel(struct actuator *x, const struct deed_request *request, const char *task, struct err *err)
{
    (void)request;
    (void)pthread_mutex_lock(&x->p->lock);
    pretend_settle(x->p);
    int r = check_deaf(x->p, err);

    if (r == 0)
        r = pretend_cancel(x->p, task, err);
    pretend_settle(x->p);
    (void)pthread_mutex_unlock(&x->p->lock);
    return r;
}

static int apply_settings(struct actuator *x, const struct settings_request *request, struct err *err)
{
    (void)pthread_mutex_lock(&x->p->lock);
    pretend_settle(x->p);
    int r = check_deaf(x->p, err);

    if (r == 0)
        r = pretend_apply_settings(x->p, request, err);
    (void)pthread_mutex_unlock(&x->p->lock);
    return r;
}

static void actuator_destroy(struct actuator *x)
{
    free(x);
}

const struct actuator_ops pretend_actuator = {
    .kind = "sim",
    .deeds = 1u << DEED_MIGRATE | 1u << DEED_ENTER_MAINTENANCE | 1u << DEED_EXIT_MAINTENANCE |
             1u << DEED_STANDBY | 1u << DEED_WAKE | 1u << DEED_POWER_ON_VM,
    .create = actuator_create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .apply_settings = apply_settings,
    .destroy = actuator_destroy,
};
