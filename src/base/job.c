/* job.c: copying jobs for actuators, and carrying them out. */
#include "base/job.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX 10

/* The job's strings, except those of its settings. */
static size_t strings_of(struct job *j, const char **ret[STRINGS_MAX])
{
    struct operation *o = &j->operation;
    const char **of_operation[] = {&o->uid,
                                   &o->vm,
                                   &o->identity,
                                   &o->from,
                                   &o->to,
                                   &o->host,
                                   &o->host_name,
                                   &o->power.machine.hardware_uuid,
                                   &o->power.machine.confirmed,
                                   &j->task};

    switch (j->kind) {
    case JOB_SET_POOLS:
        ret[0] = &j->pools.host;
        return 1;
    case JOB_MEASURE:
        ret[0] = &j->measure.host;
        ret[1] = &j->measure.host_name;
        return 2;
    case JOB_IDENTIFY:
        ret[0] = &j->identify.host;
        ret[1] = &j->identify.host_name;
        ret[2] = &j->identify.machine.hardware_uuid;
        ret[3] = &j->identify.machine.confirmed;
        return 4;
    case JOB_CHECK:
    case JOB_START:
    case JOB_POLL:
    case JOB_CANCEL:
        break;
    }
    memcpy(ret, of_operation, sizeof of_operation);
    return STRINGS_MAX;
}

static struct pool_setting *copy_settings(const struct pool_settings *from)
{
    struct pool_setting *list = xcalloc(from->n_settings ? from->n_settings : 1, sizeof *list);

    for (size_t i = 0; i < from->n_settings; i++) {
        list[i] = from->settings[i];
        list[i].pool = xstrdup(list[i].pool);
    }
    return list;
}

static struct vm_setting *copy_vm_settings(const struct pool_settings *from)
{
    struct vm_setting *list = xcalloc(from->n_vms ? from->n_vms : 1, sizeof *list);

    for (size_t i = 0; i < from->n_vms; i++) {
        list[i] = from->vms[i];
        list[i].vm = xstrdup(list[i].vm);
    }
    return list;
}

struct job *job_copy(const struct job *job)
{
    const char **strings[STRINGS_MAX];
    struct job *j = xcalloc(1, sizeof *j);

    *j = *job;
    size_t n = strings_of(j, strings);

    for (size_t i = 0; i < n; i++)
        *strings[i] = xstrdup(*strings[i]);
    if (j->kind == JOB_SET_POOLS) {
        j->pools.settings = copy_settings(&job->pools);
        j->pools.vms = copy_vm_settings(&job->pools);
    }
    return j;
}

/* The copy owns these strings; const protects them from others only. */
static void free_const(const void *p)
{
    free((void *)(uintptr_t)p);
}

void job_free(struct job *j)
{
    const char **strings[STRINGS_MAX];

    if (!j)
        return;
    size_t n = strings_of(j, strings);

    for (size_t i = 0; i < n; i++)
        free_const(*strings[i]);
    for (size_t i = 0; j->kind == JOB_SET_POOLS && i < j->pools.n_settings; i++)
        free_const(j->pools.settings[i].pool);
    for (size_t i = 0; j->kind == JOB_SET_POOLS && i < j->pools.n_vms; i++)
        free_const(j->pools.vms[i].vm);
    if (j->kind == JOB_SET_POOLS) {
        free_const(j->pools.settings);
        free_const(j->pools.vms);
    }
    free(j);
}

void job_run(const struct actuator_ops *ops, struct actuator *x, const struct job *j, struct job_result *ret)
{
    *ret = (struct job_result){0};
    switch (j->kind) {
    case JOB_CHECK:
        ret->code = ops->check(x, &j->operation, &ret->err);
        return;
    case JOB_START:
        ret->code = ops->start(x, &j->operation, ret->task, &ret->err);
        return;
    case JOB_POLL:
        ret->code = ops->poll(x, &j->operation, j->task, &ret->progress, &ret->err);
        return;
    case JOB_CANCEL:
        ret->code = ops->cancel(x, &j->operation, j->task, &ret->err);
        return;
    case JOB_SET_POOLS:
        ret->code = ops->apply_settings ? ops->apply_settings(x, &j->pools, &ret->err) : -ENOTSUP;
        return;
    case JOB_MEASURE:
        ret->code = ops->measure ? ops->measure(x, &j->measure, &ret->watts, &ret->err) : -ENOTSUP;
        return;
    case JOB_IDENTIFY:
        ret->code = ops->identify ? ops->identify(x, &j->identify, &ret->identity, &ret->err) : -ENOTSUP;
        return;
    }
}
