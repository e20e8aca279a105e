/* tasks.c: the operations: checks them, begins them, and keeps their progress.
 *
 * Every operation is a task with a serial number, which is its name. The ring of tasks is bounded; an
 * ended task is forgotten when its entry is needed, thousands of tasks later.
 */
#include "sim/cluster/cluster_internal.h"

#include "base/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_LEAST 4096
#define TASK_PREFIX "sim-task-"

/* ---- the ring ---- */

static bool under_way(const struct task *t)
{
    return t->serial != TASK_NONE && (t->state == TASK_QUEUED || t->state == TASK_RUNNING);
}

void tasks_init(struct cluster *c)
{
    uint32_t most = 2 * (c->initial->n_vms + c->initial->n_hosts); /* each has one at a time */

    c->n_tasks = most > TASKS_LEAST ? most : TASKS_LEAST;
    c->tasks = calloc(c->n_tasks, sizeof *c->tasks);
    if (!c->tasks)
        abort(); /* as an arena does */
}

static struct task *task_at(const struct cluster *c, uint32_t serial)
{
    struct task *t = &c->tasks[serial % c->n_tasks];

    return serial != TASK_NONE && t->serial == serial ? t : NULL;
}

static struct task *task_add(struct cluster *c, const struct task *like)
{
    struct task *t;

    do
        t = &c->tasks[++c->last_serial % c->n_tasks];
    while (under_way(t)); /* there are more entries than objects that can have a task */
    *t = *like;
    t->serial = c->last_serial;
    return t;
}

void task_run(struct cluster *c, uint32_t serial)
{
    struct task *t = task_at(c, serial);

    if (t)
        t->state = TASK_RUNNING;
}

void task_succeed(struct cluster *c, uint32_t serial)
{
    struct task *t = task_at(c, serial);

    if (t)
        t->state = TASK_SUCCEEDED;
}

void task_fail(struct cluster *c, uint32_t serial, int code, const char *why)
{
    struct task *t = task_at(c, serial);

    if (!t)
        return;
    t->state = TASK_FAILED;
    t->code = code;
    t->why = why;
}

struct task *task_find(const struct cluster *c, const char *name)
{
    size_t len = strlen(TASK_PREFIX);
    double serial;

    if (strncmp(name, TASK_PREFIX, len) != 0 || !number_parse(name + len, &serial) ||
        !(serial >= 1 && serial <= UINT32_MAX))
        return NULL;
    return task_at(c, (uint32_t)serial);
}

void task_tell(const struct cluster *c, const struct task *t, struct task_progress *ret)
{
    const struct host_sim *h = &c->hosts[operation_is_of_vm(t->kind) ? 0 : t->host];

    ret->state = t->state;
    ret->percent = t->state == TASK_SUCCEEDED ? 100 : t->state == TASK_QUEUED ? 0 : -1;
    if (t->state == TASK_FAILED)
        (void)err_set(&ret->why, t->code, "%s", t->why);
    else if (t->state == TASK_RUNNING && t->kind == OPERATION_MIGRATE)
        migrate_tell(c, t->vm, ret);
    else if (t->state == TASK_RUNNING && !operation_is_of_vm(t->kind) &&
             t->kind != OPERATION_ENTER_MAINTENANCE)
        ret->percent = (int)fmin(99, 100 * (c->now_s - h->change_from_s) / h->change_s);
}

/* ---- checks ---- */

static int check_destination(struct cluster *c, uint32_t vm, uint32_t to, struct err *err)
{
    const struct host_sim *h = &c->hosts[to];
    const char *name = host_of(c, to)->is.id;

    if (h->now.dead || h->now.state != HOST_ON)
        return err_set(err, -EHOSTDOWN, "the host %s cannot take VMs: it is in state %s", name,
                       host_state_name(h->now.dead ? HOST_DISCONNECTED : h->now.state));
    if (!cluster_vm_is_compatible(c, vm, to))
        return err_set(err, -EINVAL, "the VM %s cannot run on %s", vm_of(c, vm)->is.id, name);
    if (!cluster_vm_fits(c, vm, to))
        return err_set(err, -ENOSPC, "the host %s has not enough left that the VM %s could reserve", name,
                       vm_of(c, vm)->is.id);
    return 0;
}

static int find_ends(const struct cluster *c, const struct operation *q, uint32_t *ret_vm, uint32_t *ret_to,
                     struct err *err)
{
    *ret_vm = snapshot_find_vm(c->initial, q->vm);
    *ret_to = snapshot_find_host(c->initial, q->to);
    if (*ret_vm == IX_NONE || !c->vms[*ret_vm].present)
        return err_set(err, -ENOENT, "the VM %s does not exist", q->vm);
    if (*ret_to == IX_NONE)
        return err_set(err, -EINVAL, "the host %s does not exist", q->to);
    return 0;
}

static int check_migration(struct cluster *c, const struct operation *q, struct err *err)
{
    uint32_t vm, to;
    int r = find_ends(c, q, &vm, &to, err);

    if (r < 0)
        return r;
    const struct vm_sim *v = &c->vms[vm];
    uint32_t host = q->off ? v->home : v->now.host;

    if (q->off && (v->state != VM_OFF || v->starting != IX_NONE))
        return err_set(err, -ESTALE, "the VM %s is not off any more", q->vm);
    if (host == to)
        return err_set(err, -ESTALE, "the VM %s is on %s already", q->vm, q->to);
    if (host == IX_NONE || strcmp(host_of(c, host)->is.id, q->from) != 0)
        return err_set(err, -ESTALE, "the VM %s is not on %s any more", q->vm, q->from);
    if ((r = check_destination(c, vm, to, err)) < 0)
        return r;
    if (fault_refuses_migration(c, vm))
        return err_set(err, -EPERM, "the VM %s cannot be migrated: a local device is connected to it", q->vm);
    return 0;
}

static int check_power_on(struct cluster *c, const struct operation *q, struct err *err)
{
    uint32_t vm, to;
    int r = find_ends(c, q, &vm, &to, err);

    if (r < 0)
        return r;
    if (c->vms[vm].now.host != IX_NONE)
        return err_set(err, -ESTALE, "the VM %s runs already, on %s", q->vm,
                       host_of(c, c->vms[vm].now.host)->is.id);
    if (c->vms[vm].down)
        return err_set(err, -EBUSY, "the VM %s is about to be restarted after its host was lost", q->vm);
    if ((r = check_destination(c, vm, to, err)) < 0)
        return r;
    if (fault_refuses_start(c, vm))
        return err_set(err, -EPERM, "the VM %s cannot be started there: a local device is connected to it",
                       q->vm);
    return 0;
}

static int check_host(struct cluster *c, const struct operation *q, struct err *err)
{
    static const enum host_state needed[] = {
        [OPERATION_ENTER_MAINTENANCE] = HOST_ON,
        [OPERATION_EXIT_MAINTENANCE] = HOST_MAINTENANCE,
        [OPERATION_STANDBY] = HOST_ON,
        [OPERATION_WAKE] = HOST_STANDBY,
    };
    uint32_t host = snapshot_find_host(c->initial, q->host);

    if (host == IX_NONE)
        return err_set(err, -ENOENT, "the host %s does not exist", q->host);
    const struct host_sim *h = &c->hosts[host];

    bool from_maintenance = q->kind == OPERATION_STANDBY && h->now.state == HOST_MAINTENANCE;

    if (h->now.dead || (h->now.state != needed[q->kind] && !from_maintenance))
        return err_set(err, -ESTALE, "the host %s is in state %s, not in %s", q->host,
                       host_state_name(h->now.dead ? HOST_DISCONNECTED : h->now.state),
                       host_state_name(needed[q->kind]));
    if (q->kind == OPERATION_STANDBY && cluster_guests(c, host) > 0)
        return err_set(err, -EBUSY, "the host %s still runs VMs", q->host);
    if (q->kind == OPERATION_STANDBY && h->arrives.n > 0)
        return err_set(err, -EBUSY, "a VM is on its way to the host %s", q->host);
    return 0;
}

int task_check_operation(struct cluster *c, const struct operation *q, struct err *err)
{
    if (q->kind == OPERATION_MIGRATE)
        return check_migration(c, q, err);
    return q->kind == OPERATION_POWER_ON_VM ? check_power_on(c, q, err) : check_host(c, q, err);
}

/* ---- it begins ---- */

/* The running task of the same VM or host, of any kind. */
static struct task *task_like(const struct cluster *c, const struct task *wanted)
{
    if (!operation_is_of_vm(wanted->kind))
        return wanted->host == IX_NONE ? NULL : task_at(c, c->hosts[wanted->host].task);
    if (wanted->vm == IX_NONE)
        return NULL;
    const struct vm_sim *v = &c->vms[wanted->vm];

    if (v->moving.stage != MOVING_NOT)
        return task_at(c, v->moving.task);
    return v->starting != IX_NONE ? task_at(c, v->start_task) : NULL;
}

static bool is_same(const struct task *a, const struct task *b)
{
    return a->kind == b->kind && (!operation_is_of_vm(a->kind) || a->to == b->to);
}

static void begin(struct cluster *c, const struct task *t)
{
    c->vm_operations += operation_is_of_vm(t->kind);
    switch (t->kind) {
    case OPERATION_MIGRATE:
        if (t->off) { /* that takes no time worth a simulation */
            c->vms[t->vm].home = t->to;
            task_succeed(c, t->serial);
            return;
        }
        migrate_request(c, t->vm, t->to, t->serial, fault_of_migration(c, t->vm));
        return;
    case OPERATION_POWER_ON_VM:
        cluster_vm_start_begin(c, t->vm, t->to, t->serial);
        return;
    case OPERATION_ENTER_MAINTENANCE:
        power_maintenance_enter(c, t->host, t->serial);
        return;
    case OPERATION_EXIT_MAINTENANCE:
        power_maintenance_exit(c, t->host, t->serial);
        return;
    case OPERATION_STANDBY:
        power_standby_begin(c, t->host, t->serial);
        return;
    case OPERATION_WAKE:
        power_wake_begin(c, t->host, t->serial);
        return;
    }
}

int task_start_operation(struct cluster *c, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err)
{
    bool of_vm = operation_is_of_vm(q->kind);
    const struct task wanted = {
        .kind = q->kind,
        .vm = of_vm ? snapshot_find_vm(c->initial, q->vm) : IX_NONE,
        .from = q->kind == OPERATION_MIGRATE ? snapshot_find_host(c->initial, q->from) : IX_NONE,
        .to = of_vm ? snapshot_find_host(c->initial, q->to) : IX_NONE,
        .host = of_vm ? IX_NONE : snapshot_find_host(c->initial, q->host),
        .off = q->off,
        .state = q->kind == OPERATION_MIGRATE ? TASK_QUEUED : TASK_RUNNING,
    };
    struct task *t = task_like(c, &wanted);
    int r = 0;

    if (t && !is_same(t, &wanted))
        return err_set(err, -EBUSY, "another task (%s%u) is under way for %s", TASK_PREFIX, t->serial,
                       of_vm ? q->vm : q->host);
    if (!t) {
        if ((r = task_check_operation(c, q, err)) < 0)
            return r;
        if (q->only_adopt)
            return err_set(err, -ESRCH, "no task is under way for %s", of_vm ? q->vm : q->host);
        t = task_add(c, &wanted);
        begin(c, t);
        cluster_recompute(c);
        if (fault_loses_answer(c, wanted.host, wanted.vm))
            return err_set(err, -ETIMEDOUT, "the cluster did not answer in time");
    }
    (void)snprintf(ret_task, TASK_NAME_MAX, "%s%u", TASK_PREFIX, t->serial);
    return 0;
}

int task_cancel_operation(struct cluster *c, const char *name, struct err *err)
{
    static const char why[] = "The task was canceled by a user.";
    struct task *t = task_find(c, name);

    if (!t)
        return err_set(err, -ENOENT, "the task %s is not known", name);
    if (!under_way(t))
        return 0; /* it has ended meanwhile; poll() returns the result */
    if (t->kind == OPERATION_MIGRATE) {
        migrate_fail(c, t->vm, -ECANCELED, why);
    } else if (t->kind == OPERATION_POWER_ON_VM) {
        cluster_vm_start_fail(c, t->vm, -ECANCELED, why);
    } else if (t->kind == OPERATION_ENTER_MAINTENANCE) {
        task_fail(c, t->serial, -ECANCELED, why);
        power_maintenance_cancel(c, t->host);
    } else {
        return err_set(err, -ENOTSUP, "the task %s cannot be stopped any more", name);
    }
    cluster_recompute(c);
    return 0;
}
