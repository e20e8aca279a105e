/* plugin.c: collector and actuator of the fake cluster, kind "sim": a lock and a clock in front of the
 * simulated cluster.
 *
 * The cluster's time passes `speed` times as fast as the service's. Past instants are reported in the
 * service's time: as long ago as the service has waited.
 */
#include "sim/fake_cluster/fake_cluster_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* ---- the cluster that both share ---- */

static int plugin_open(const struct source_config *cfg, void **ret_shared, struct err *err)
{
    const struct fake_cluster_settings *settings = cfg->settings;
    const struct fake_cluster_options options = {.cluster = cfg->cluster,
                                                 .file = settings->file,
                                                 .scenario = settings->scenario,
                                                 .folder = settings->folder,
                                                 .speed = settings->speed,
                                                 .seed = cfg->seed};
    struct fake_cluster *p;
    int r = fake_cluster_new(&options, &p, err);

    if (r == 0)
        *ret_shared = p;
    return r;
}

static void plugin_close(void *shared)
{
    fake_cluster_free(shared);
}

/* ---- the collector ---- */

struct collector {
    struct fake_cluster *p;
};

static int collector_create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    struct collector *c = xcalloc(1, sizeof *c);

    (void)err;
    c->p = cfg->shared;
    *ret = c;
    return 0;
}

/* Converts an instant of the cluster to the service's. Instants before the beginning are the service's
 * already.
 */
static instant_s told(const struct fake_cluster *p, instant_s t)
{
    if (t <= p->s.start)
        return t;
    double ago_s = p->advanced_s - (double)(t - p->s.start);

    return fake_cluster_instant(p) - (instant_s)(ago_s / p->speed);
}

static void tell_sample(const struct fake_cluster *p, struct vm_sample *s)
{
    s->measured = told(p, s->measured);
    s->interval_ms /= p->speed;
    s->cpu_run_ms /= p->speed;
    s->cpu_ready_ms /= p->speed;
    s->cpu_sleep_ms /= p->speed;
}

static uint64_t fnv_1a(const char *text, const char *more)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    for (; *more; more++)
        h = (h ^ (unsigned char)*more) * 0x100000001b3;
    return h;
}

static void tell_times(const struct fake_cluster *p, struct inventory *inv)
{
    inv->time = fake_cluster_instant(p);
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

/* Every machine has firmware with a UUID. The snapshot's, or one made of the host's id, so that a test's
 * controllers can report the same: FNV-1a of the id, and of the id and "/2", highest byte first. */
static void tell_hardware(struct inventory *inv, struct arena *a)
{
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *is = &inv->hosts[i].is;
        if (!is->hardware_uuid) {
            const unsigned long long high = fnv_1a(is->id, "");
            const unsigned long long low = fnv_1a(is->id, "/2");

            is->hardware_uuid =
                arena_printf(a, "%08llx-%04llx-%04llx-%04llx-%012llx", high >> 32, high >> 16 & 0xffff,
                             high & 0xffff, low >> 48, low & 0xffffffffffff);
        }
    }
}

static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    struct fake_cluster *p = c->p;

    fake_cluster_enter(p);
    int r = cluster_collect(p->cluster, a, ret, err);

    if (r == 0) {
        tell_times(p, ret);
        tell_hardware(ret, a);
    }
    fake_cluster_leave(p);
    return r;
}

static void collector_destroy(struct collector *c)
{
    free(c);
}

const struct collector_ops fake_cluster_collector = {
    .kind = "sim",
    .create = collector_create,
    .collect = collect,
    .destroy = collector_destroy,
};

/* ---- the actuator ---- */

struct actuator {
    struct fake_cluster *p;
};

static int actuator_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct actuator *x = xcalloc(1, sizeof *x);

    (void)err;
    x->p = cfg->shared;
    *ret = x;
    return 0;
}

static int check(struct actuator *x, const struct operation *request, struct err *err)
{
    fake_cluster_enter(x->p);
    int r = cluster_check(x->p->cluster, request, err);

    fake_cluster_leave(x->p);
    return r;
}

static int start(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                 struct err *err)
{
    fake_cluster_enter(x->p);
    int r = cluster_start(x->p->cluster, request, ret_task, err);

    fake_cluster_leave(x->p);
    return r;
}

static int poll_task(struct actuator *x, const struct operation *request, const char *task,
                     struct task_progress *ret, struct err *err)
{
    (void)request;
    fake_cluster_enter(x->p);
    int r = cluster_poll(x->p->cluster, task, ret, err);

    fake_cluster_leave(x->p);
    return r;
}

static int cancel(struct actuator *x, const struct operation *request, const char *task, struct err *err)
{
    (void)request;
    fake_cluster_enter(x->p);
    int r = cluster_cancel(x->p->cluster, task, err);

    fake_cluster_leave(x->p);
    return r;
}

static int apply_settings(struct actuator *x, const struct pool_settings *request, struct err *err)
{
    fake_cluster_enter(x->p);
    int r = cluster_set_pools(x->p->cluster, request, err);

    if (r == 0)
        x->p->settings_applied++;
    fake_cluster_leave(x->p);
    return r;
}

static int measure_host(struct actuator *x, const struct measurement *q, double *ret_w, struct err *err)
{
    fake_cluster_enter(x->p);
    int r = cluster_measure(x->p->cluster, q->host, ret_w, err);

    fake_cluster_leave(x->p);
    return r;
}

static void actuator_destroy(struct actuator *x)
{
    free(x);
}

const struct actuator_ops fake_cluster_actuator = {
    .kind = "sim",
    .operations = OPERATIONS_ALL,
    .create = actuator_create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .apply_settings = apply_settings,
    .measure = measure_host,
    .destroy = actuator_destroy,
};

const struct plugin fake_cluster_plugin = {
    .collector = &fake_cluster_collector,
    .actuator = &fake_cluster_actuator,
    .open = plugin_open,
    .close = plugin_close,
};
