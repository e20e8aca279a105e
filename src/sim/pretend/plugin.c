/* plugin.c: the cluster's own contracts with a lock and a clock in front of them, kind "sim".
 *
 * The cluster's seconds go by `speed` times as fast as those of the service. What has happened since the
 * beginning is told in the service's: as long ago as it was for whoever waited. */
#include "sim/pretend/pretend_internal.h"

#include <errno.h>
#include <stdlib.h>

static int check_config(const struct source_config *cfg, struct err *err)
{
    return cfg->pretend ? 0 : err_set(err, -EINVAL, "source sim: there is no pretend cluster");
}

/* ---- the collector ---- */

struct collector {
    struct pretend *p;
};

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

/* An instant of the cluster as one of the service. Those of before the beginning are the service's already.
 */
static instant_s told(const struct pretend *p, instant_s t)
{
    if (t <= p->s.start)
        return t;
    double ago_s = p->advanced_s - (double)(t - p->s.start);

    return pretend_instant(p) - (instant_s)(ago_s / p->speed);
}

static void tell_sample(const struct pretend *p, struct vm_sample *s)
{
    s->measured = told(p, s->measured);
    s->interval_ms /= p->speed;
    s->cpu_run_ms /= p->speed;
    s->cpu_ready_ms /= p->speed;
    s->cpu_sleep_ms /= p->speed;
}

static void tell_times(const struct pretend *p, struct inventory *inv)
{
    inv->time = pretend_instant(p);
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *is = &inv->hosts[i].is;

        is->on_since = told(p, is->on_since);
        is->standby_since = told(p, is->standby_since);
    }
    for (size_t i = 0; i < inv->n_vms; i++)
        tell_sample(p, &inv->vms[i].sample);
    for (size_t i = 0; i < inv->n_migrations; i++)
        inv->migrations[i].started = told(p, inv->migrations[i].started);
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    struct pretend *p = c->p;

    pretend_enter(p);
    int r = cluster_collector.collect(p->eyes, a, ret, err);

    if (r == 0)
        tell_times(p, ret);
    pretend_leave(p);
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

static int check(struct actuator *x, const struct operation *request, struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.check(x->p->actuators, request, err);

    pretend_leave(x->p);
    return r;
}

static int start(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                 struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.start(x->p->actuators, request, ret_task, err);

    pretend_leave(x->p);
    return r;
}

static int poll_task(struct actuator *x, const struct operation *request, const char *task,
                     struct task_progress *ret, struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.poll(x->p->actuators, request, task, ret, err);

    pretend_leave(x->p);
    return r;
}

static int cancel(struct actuator *x, const struct operation *request, const char *task, struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.cancel(x->p->actuators, request, task, err);

    pretend_leave(x->p);
    return r;
}

static int apply_settings(struct actuator *x, const struct pool_settings *request, struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.apply_settings(x->p->actuators, request, err);

    if (r == 0)
        x->p->settings_applied++;
    pretend_leave(x->p);
    return r;
}

static int measure_host(struct actuator *x, const struct measurement *q, double *ret_w, struct err *err)
{
    pretend_enter(x->p);
    int r = cluster_actuator.measure(x->p->actuators, q, ret_w, err);

    pretend_leave(x->p);
    return r;
}

static void actuator_destroy(struct actuator *x)
{
    free(x);
}

const struct actuator_ops pretend_actuator = {
    .kind = "sim",
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
