/* pool_updates.c: which settings of pools and VMs wait to be set on which host, and how setting them went. */
#include "engine/actions/pool_updates.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "engine/actions/power_preconditions.h"
#include "engine/actions/preconditions.h"
#include "engine/decide.h"
#include "engine/events.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/pool_settings.h"
#include "engine/observation.h"
#include "engine/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 2 /* workers that it keeps busy at most: migrations go first */
#define SAID_MOST 20

/* One host's settings of a plan; all of it its own. */
struct pool_update {
    uint64_t serial; /* of the job; 0: no worker has it */
    char *host;
    struct pool_setting *settings;
    size_t n;
    struct vm_setting *vms;
    size_t n_vms;
};

struct pool_updates {
    struct pool_update **jobs; /* of the last pass, a host each; those that workers have come first */
    size_t n_jobs, n_out;
    uint64_t serial;                   /* of the newest job */
    size_t n_hosts, n_settings, n_vms; /* set since the last pass */
    size_t n_said;                     /* failures told since the last pass */
    struct idmap failing;              /* host -> anything: the last try failed, and that was said */
    struct idmap unable;               /* host -> anything: has no pools that could be set */
    bool said_unable;
};

/* ---- what is to be set ----------------------------------------------------------------------- */

static void job_free(struct pool_update *j)
{
    for (size_t i = 0; i < j->n; i++)
        free((void *)(uintptr_t)j->settings[i].pool);
    for (size_t i = 0; i < j->n_vms; i++)
        free((void *)(uintptr_t)j->vms[i].vm);
    free(j->settings);
    free(j->vms);
    free(j->host);
    free(j);
}

static bool is_out(const struct pool_updates *p, const char *host)
{
    for (size_t i = 0; i < p->n_out; i++) {
        if (strcmp(p->jobs[i]->host, host) == 0)
            return true;
    }
    return false;
}

static uint32_t depth_of(const struct snapshot *s, uint32_t pool)
{
    uint32_t depth = 0;

    while ((pool = s->pools[pool].parent) != IX_NONE)
        depth++;
    return depth;
}

/* Parents first; pools of one depth stay in the order of their ids. */
static void put_pools(struct pool_update *j, const struct snapshot *s, const struct host_setting *list,
                      uint32_t n)
{
    j->settings = xcalloc(n, sizeof *j->settings);
    for (uint32_t depth = 0; j->n < n; depth++) {
        for (uint32_t i = 0; i < n; i++) {
            if (depth_of(s, list[i].pool) != depth)
                continue;
            struct pool_setting *p = &j->settings[j->n++];
            p->pool = xstrdup(s->pools[list[i].pool].is.id);
            memcpy(p->alloc, list[i].alloc, sizeof p->alloc);
            p->nothing = host_setting_is_nothing(&list[i]);
        }
    }
}

/* Limits in CPUs: how many MHz a CPU has is the collector's own figure. */
static void put_vms(struct pool_update *j, const struct snapshot *s, const struct vm_setting_due *list,
                    uint32_t n)
{
    const struct host_facts *h = &s->hosts[list->host].is;
    double core_mhz = h->cores > 0 ? h->total[RES_CPU] / h->cores : 0;

    j->vms = xcalloc(n, sizeof *j->vms);
    for (uint32_t i = 0; i < n; i++) {
        const struct vm_control *to = &list[i].to;
        bool limited = to->limit < NO_LIMIT && core_mhz > 0;

        j->vms[j->n_vms++] = (struct vm_setting){.vm = xstrdup(s->vms[list[i].vm].is.id),
                                                 .to = *to,
                                                 .limit_cpus = limited ? to->limit / core_mhz : NO_LIMIT};
    }
}

/* What no worker has yet is not done any more. */
static void drop_waiting(struct pool_updates *p)
{
    for (size_t i = p->n_out; i < p->n_jobs; i++)
        job_free(p->jobs[i]);
    p->n_jobs = p->n_out;
}

static bool may_set_by_itself(const struct engine *e)
{
    enum automation a = e->settings.policy.automation;

    return e->settings.sets_pools && (a == AUTOMATION_PARTIAL || a == AUTOMATION_FULL);
}

/* A host that is about to sleep is left alone: it may be down before it hears of it. */
static struct pool_update *add_job(struct engine *e, const char *host)
{
    struct pool_updates *p = e->pool_updates;

    if (is_out(p, host) || idmap_get(&p->unable, host) || power_preconditions_standby_approved(e, host))
        return NULL;
    struct pool_update *j = xcalloc(1, sizeof *j);

    j->host = xstrdup(host);
    p->jobs[p->n_jobs++] = j;
    return j;
}

static void take_pools(struct engine *e, const struct observation *v)
{
    const struct plan *plan = &v->plan;

    for (uint32_t i = 0, n; i < plan->n_settings; i += n) {
        const struct host_setting *first = &plan->settings[i];

        for (n = 1; i + n < plan->n_settings && plan->settings[i + n].host == first->host; n++)
            ;
        struct pool_update *j = add_job(e, v->snap.hosts[first->host].is.id);

        if (j)
            put_pools(j, &v->snap, first, n);
    }
}

static void take_vms(struct engine *e, const struct observation *v)
{
    const struct plan *plan = &v->plan;

    for (uint32_t i = 0, n; i < plan->n_vm_settings; i += n) {
        const struct vm_setting_due *first = &plan->vm_settings[i];

        for (n = 1; i + n < plan->n_vm_settings && plan->vm_settings[i + n].host == first->host; n++)
            ;
        struct pool_update *j = add_job(e, v->snap.hosts[first->host].is.id);

        if (j)
            put_vms(j, &v->snap, first, n);
    }
}

void pool_updates_take(struct engine *e, const struct observation *v)
{
    struct pool_updates *p = e->pool_updates;

    drop_waiting(p);
    pool_settings_forget_deleted(e->knowledge->pools, &v->snap);
    p->n_hosts = p->n_settings = p->n_vms = p->n_said = 0;
    if (!may_set_by_itself(e))
        return;
    p->jobs =
        xreallocarray(p->jobs, p->n_jobs + 2 * (size_t)v->snap.n_hosts + 1, sizeof(struct pool_update *));
    take_pools(e, v);
    take_vms(e, v);
}

void pool_updates_carry_on(struct engine *e, instant_s now)
{
    struct pool_updates *p = e->pool_updates;

    while (p->n_out < p->n_jobs && p->n_out < AT_ONCE && may_set_by_itself(e) &&
           preconditions_may_begin(e, now)) {
        struct pool_update *j = p->jobs[p->n_out];
        struct err err = {0};
        const struct job job = {
            .kind = JOB_SET_POOLS,
            .id = p->serial + 1,
            .pools = {.host = j->host,
                      .settings = j->settings,
                      .n_settings = j->n,
                      .vms = j->vms,
                      .n_vms = j->n_vms},
        };

        if (e->port.actuators_ops->submit(e->port.actuators, &job, &err) < 0)
            return; /* they have enough to do: at the next tick */
        j->serial = ++p->serial;
        p->n_out++;
    }
}

/* ---- how it went ----------------------------------------------------------------------------- */

static void say_failed(struct engine *e, const struct pool_update *j, const struct err *why, instant_s now)
{
    struct pool_updates *p = e->pool_updates;
    void **failing = idmap_slot(&p->failing, j->host);
    bool news = !*failing && p->n_said < SAID_MOST;

    *failing = e;
    if (why->code == -ENOTSUP) {
        *idmap_slot(&p->unable, j->host) = e;
        news = !p->said_unable;
        p->said_unable = true;
    }
    if (!news)
        return;
    p->n_said++;
    events_publish(
        e, &(struct event){
               .kind = EVENT_SETTINGS_FAILED, .time = now, .pass = e->passes->decided_id, .text = why->text});
}

static void take_over(struct engine *e, const struct pool_update *j)
{
    for (size_t i = 0; i < j->n; i++)
        pool_settings_remember(e->knowledge->pools, j->host, j->settings[i].pool, j->settings[i].alloc,
                               j->settings[i].nothing, true);
    if (idmap_get(&e->pool_updates->failing, j->host))
        *idmap_slot(&e->pool_updates->failing, j->host) = NULL;
    e->pool_updates->n_hosts++;
    e->pool_updates->n_settings += j->n;
    e->pool_updates->n_vms += j->n_vms;
}

static void say_set(struct engine *e, instant_s now)
{
    char text[160];
    const struct pool_updates *p = e->pool_updates;
    size_t n = p->n_settings > 0 ? p->n_settings : p->n_vms;

    (void)snprintf(text, sizeof text, "%zu setting%s of %s on %zu host%s w%s set", n, n == 1 ? "" : "s",
                   p->n_settings > 0 ? "pools" : "VMs", p->n_hosts, p->n_hosts == 1 ? "" : "s",
                   n == 1 ? "as" : "ere");
    events_publish(
        e, &(struct event){.kind = EVENT_SETTINGS, .time = now, .pass = e->passes->decided_id, .text = text});
}

void pool_updates_result(struct engine *e, const struct job *job, const struct job_result *result,
                         instant_s now)
{
    struct pool_updates *p = e->pool_updates;
    size_t i = 0;

    while (i < p->n_out && p->jobs[i]->serial != job->id)
        i++;
    if (i == p->n_out)
        return; /* of an earlier life: the pass finds out what is different */
    struct pool_update *j = p->jobs[i];

    memmove(&p->jobs[i], &p->jobs[i + 1], (p->n_jobs - i - 1) * sizeof(struct pool_update *));
    p->n_out--;
    p->n_jobs--;
    if (result->code == 0) {
        take_over(e, j);
    } else if (!power_preconditions_standby_approved(e, j->host)) { /* else no wonder */
        struct err why = result->err;

        why.code = result->code;
        say_failed(e, j, &why, now);
    }
    job_free(j);
    if (p->n_jobs == 0 && p->n_hosts > 0)
        say_set(e, now);
}

struct pool_updates *pool_updates_new(void)
{
    return xcalloc(1, sizeof(struct pool_updates));
}

void pool_updates_free(struct pool_updates *p)
{
    if (!p)
        return;
    p->n_out = 0;
    drop_waiting(p);
    free(p->jobs);
    idmap_release(&p->failing, NULL);
    idmap_release(&p->unable, NULL);
    free(p);
}
