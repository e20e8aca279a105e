#include "sim/pretend/pretend_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What things take, in seconds of a real cluster. */
#define MIGRATION_SETUP_S 2.0
#define POWER_ON_VM_S 3.0
#define MAINTENANCE_EXIT_S 10.0
#define STANDBY_S 60.0
#define BOOT_S 180.0

/* What a VM that was off wants when it starts, of its vCPUs' cores and of its memory. */
#define FRESH_CPU_SHARE 0.2
#define FRESH_MEM_SHARE 0.5

#define RATE_MB_S 250.0 /* where the host does not say */
#define MIGRATIONS_MAX 4
#define TASKS_MOST 10000

static bool under_way(const struct task *t)
{
    return t->state == TASK_QUEUED || t->state == TASK_RUNNING;
}

static struct host *host_at(const struct pretend *p, uint32_t ix)
{
    return &p->snap.hosts[ix];
}

/* Whether any VM runs on the host. */
static bool is_used(const struct pretend *p, uint32_t host)
{
    for (uint32_t i = 0; i < p->snap.n_vms; i++) {
        if (!p->removed[i] && p->snap.vms[i].host == host && p->snap.vms[i].is.state == VM_ON)
            return true;
    }
    return false;
}

/* ---- time goes by ---- */

/* Whether both ends of a migration have a slot free; nothing else needs one. */
static bool may_begin(const struct pretend *p, const struct task *waiting)
{
    const uint32_t ends[] = {waiting->from, waiting->to};

    if (waiting->deed != DEED_MIGRATE)
        return true;

    for (size_t k = 0; k < 2; k++) {
        uint32_t most = host_at(p, ends[k])->is.migrations_max, n = 0;

        for (size_t i = 0; i < p->n_tasks; i++) {
            const struct task *t = &p->tasks[i];

            if (t->deed == DEED_MIGRATE && t->state == TASK_RUNNING &&
                (t->from == ends[k] || t->to == ends[k]))
                n++;
        }
        if (n >= (most ? most : MIGRATIONS_MAX))
            return false;
    }
    return true;
}

static double migration_s(const struct pretend *p, const struct task *t)
{
    double rate = RATE_MB_S;
    double from = host_at(p, t->from)->is.migration_rate_mb_s, to = host_at(p, t->to)->is.migration_rate_mb_s;

    if (!isnan(from) || !isnan(to))
        rate = fmin(from, to); /* the one that is known, if only one is */
    return MIGRATION_SETUP_S + p->snap.vms[t->vm].is.consumed_mb / fmax(rate, 1);
}

static double real_duration_s(const struct pretend *p, const struct task *t)
{
    switch (t->deed) {
    case DEED_MIGRATE:
        return migration_s(p, t);
    case DEED_ENTER_MAINTENANCE:
        return INFINITY; /* until the last VM has left */
    case DEED_EXIT_MAINTENANCE:
        return MAINTENANCE_EXIT_S;
    case DEED_STANDBY:
        return STANDBY_S;
    case DEED_POWER_ON_VM:
        return POWER_ON_VM_S;
    case DEED_WAKE:
        return isnan(host_at(p, t->host)->is.boot_s) ? BOOT_S : host_at(p, t->host)->is.boot_s;
    }
    return 0;
}

static void begin_task(struct pretend *p, struct task *t, double at_s)
{
    t->state = TASK_RUNNING;
    t->begun_s = at_s;
    t->duration_s = real_duration_s(p, t) / p->speed;
}

static void fail_task(struct task *t, int code, const char *why)
{
    t->state = TASK_FAILED;
    (void)err_set(&t->why, code, "%s", why);
}

static void end_migration(struct pretend *p, struct task *t)
{
    t->state = TASK_SUCCEEDED;
    p->snap.vms[t->vm].host = t->to;
    p->snap.vms[t->vm].is.last_migrated = pretend_instant(p);
}

/* A VM that starts wants what the snapshot says; where that says nothing, because it was off, a part of what
 * it has. */
static void end_power_on(struct pretend *p, struct task *t)
{
    struct vm *v = &p->snap.vms[t->vm];
    const struct host *h = host_at(p, t->to);
    double core_mhz = h->is.total[RES_CPU] / (h->is.cores ? h->is.cores : 1);

    t->state = TASK_SUCCEEDED;
    v->host = t->to;
    v->is.state = VM_ON;
    if (v->is.demand[RES_CPU] <= 0)
        v->is.demand[RES_CPU] = FRESH_CPU_SHARE * core_mhz * v->is.vcpus;
    if (v->is.demand[RES_MEM] <= 0)
        v->is.demand[RES_MEM] = FRESH_MEM_SHARE * v->is.mem_mb;
}

static void end_host_task(struct pretend *p, struct task *t)
{
    struct host_facts *h = &host_at(p, t->host)->is;

    t->state = TASK_SUCCEEDED;
    if (t->deed == DEED_ENTER_MAINTENANCE) {
        h->state = HOST_MAINTENANCE;
    } else if (t->deed == DEED_STANDBY) {
        h->state = HOST_STANDBY;
        h->standby_since = pretend_instant(p);
    } else {
        h->state = HOST_ON;
        h->on_since = pretend_instant(p);
    }
}

static void progress_vm(struct pretend *p, struct task *t, double now)
{
    double half_s = t->begun_s + t->duration_s / 2;
    bool over = now >= t->begun_s + t->duration_s;

    if (p->removed[t->vm])
        fail_task(t, -ENOENT, "The virtual machine has been deleted.");
    else if (host_at(p, t->to)->is.state != HOST_ON)
        fail_task(t, -EHOSTDOWN, "The destination host is not available any more.");
    else if (t->cancelled)
        fail_task(t, -ECANCELED, "The task was canceled by a user.");
    else if (t->fault == PRETEND_FAILS && now >= half_s)
        fail_task(t, -EIO,
                  t->deed == DEED_MIGRATE
                      ? "The migration failed: the VM's memory changes faster than it can be copied."
                      : "The VM could not be started: a file of it is locked.");
    else if (t->fault != PRETEND_HANGS && over && t->deed == DEED_MIGRATE)
        end_migration(p, t);
    else if (t->fault != PRETEND_HANGS && over)
        end_power_on(p, t);
}

static void progress(struct pretend *p, struct task *t, double now)
{
    if (deed_is_of_vm(t->deed))
        progress_vm(p, t, now);
    else if (t->deed == DEED_ENTER_MAINTENANCE ? !is_used(p, t->host) : now >= t->begun_s + t->duration_s)
        end_host_task(p, t);
}

/* Old ones go, so that a service that runs for a year does not fill the memory. */
static void forget_tasks(struct pretend *p)
{
    size_t ended = 0, kept = 0;

    for (size_t i = 0; i < p->n_tasks; i++)
        ended += !under_way(&p->tasks[i]);
    for (size_t i = 0; i < p->n_tasks; i++) {
        bool drop = !under_way(&p->tasks[i]) && ended > TASKS_KEPT;

        ended -= drop;
        if (!drop)
            p->tasks[kept++] = p->tasks[i];
    }
    p->n_tasks = kept;
}

void pretend_settle(struct pretend *p)
{
    double now = p->now_s(p->clock);

    for (size_t i = 0; i < p->n_tasks; i++) {
        if (p->tasks[i].state == TASK_RUNNING)
            progress(p, &p->tasks[i], now);
    }
    /* oldest first: tasks wait for a slot in the order in which they came */
    for (size_t i = 0; i < p->n_tasks; i++) {
        struct task *t = &p->tasks[i];

        if (t->state == TASK_QUEUED && t->cancelled)
            fail_task(t, -ECANCELED, "The task was canceled by a user.");
        else if (t->state == TASK_QUEUED && may_begin(p, t))
            begin_task(p, t, now);
    }
}

/* ---- what is asked of it ---- */

/* The VM and where it is to be, both of which must be there. */
static int find_ends(const struct pretend *p, const struct deed_request *q, uint32_t *ret_vm,
                     uint32_t *ret_to, struct err *err)
{
    *ret_vm = snapshot_find_vm(&p->snap, q->vm);
    *ret_to = snapshot_find_host(&p->snap, q->to);
    if (*ret_vm == IX_NONE || p->removed[*ret_vm])
        return err_set(err, -ENOENT, "the VM %s does not exist", q->vm);
    if (*ret_to == IX_NONE)
        return err_set(err, -EINVAL, "the host %s does not exist", q->to);
    return 0;
}

static int check_arrival(const struct pretend *p, const struct deed_request *q, uint32_t vm, uint32_t to,
                         struct err *err)
{
    if (host_at(p, to)->is.state != HOST_ON)
        return err_set(err, -EHOSTDOWN, "the host %s cannot take VMs: it is in state %s", q->to,
                       host_state_name(host_at(p, to)->is.state));
    if (p->faults[vm] == PRETEND_REFUSES)
        return err_set(err, -EPERM, "the VM %s cannot be %s: a local device is connected to it", q->vm,
                       q->deed == DEED_MIGRATE ? "migrated" : "started there");
    return 0;
}

static int check_migration(const struct pretend *p, const struct deed_request *q, struct err *err)
{
    uint32_t vm, to;
    int r = find_ends(p, q, &vm, &to, err);

    if (r < 0)
        return r;
    uint32_t host = p->snap.vms[vm].host;

    if (host == to)
        return err_set(err, -ESTALE, "the VM %s is on %s already", q->vm, q->to);
    if (host == IX_NONE || strcmp(host_at(p, host)->is.id, q->from) != 0)
        return err_set(err, -ESTALE, "the VM %s is not on %s any more", q->vm, q->from);
    if (p->snap.vms[vm].is.state != VM_ON)
        return err_set(err, -EINVAL, "the VM %s is not running", q->vm);
    return check_arrival(p, q, vm, to, err);
}

static int check_power_on(const struct pretend *p, const struct deed_request *q, struct err *err)
{
    uint32_t vm, to;
    int r = find_ends(p, q, &vm, &to, err);

    if (r < 0)
        return r;
    if (p->snap.vms[vm].is.state == VM_ON)
        return err_set(err, -ESTALE, "the VM %s runs already, on %s", q->vm,
                       host_at(p, p->snap.vms[vm].host)->is.id);
    return check_arrival(p, q, vm, to, err);
}

static int check_host(const struct pretend *p, const struct deed_request *q, struct err *err)
{
    static const enum host_state needed[] = {
        [DEED_ENTER_MAINTENANCE] = HOST_ON,
        [DEED_EXIT_MAINTENANCE] = HOST_MAINTENANCE,
        [DEED_STANDBY] = HOST_ON,
        [DEED_WAKE] = HOST_STANDBY,
    };
    uint32_t host = snapshot_find_host(&p->snap, q->host);

    if (host == IX_NONE)
        return err_set(err, -ENOENT, "the host %s does not exist", q->host);
    if (host_at(p, host)->is.state != needed[q->deed])
        return err_set(err, -ESTALE, "the host %s is in state %s, not in %s", q->host,
                       host_state_name(host_at(p, host)->is.state), host_state_name(needed[q->deed]));
    if (q->deed == DEED_STANDBY && is_used(p, host))
        return err_set(err, -EBUSY, "the host %s still runs VMs", q->host);
    return 0;
}

int pretend_check(const struct pretend *p, const struct deed_request *request, struct err *err)
{
    if (request->deed == DEED_MIGRATE)
        return check_migration(p, request, err);
    return request->deed == DEED_POWER_ON_VM ? check_power_on(p, request, err) : check_host(p, request, err);
}

/* A task that is under way for the same VM or host; whether it is the same deed is for the caller to see. */
static struct task *find_like(const struct pretend *p, const struct task *like)
{
    for (size_t i = 0; i < p->n_tasks; i++) {
        struct task *t = &p->tasks[i];
        bool of_vm = deed_is_of_vm(like->deed);

        if (under_way(t) && of_vm == deed_is_of_vm(t->deed) &&
            (of_vm ? t->vm == like->vm : t->host == like->host))
            return t;
    }
    return NULL;
}

static bool is_same(const struct task *a, const struct task *b)
{
    return a->deed == b->deed && (!deed_is_of_vm(a->deed) || a->to == b->to);
}

static void enter_state(struct pretend *p, const struct task *t)
{
    static const enum host_state meanwhile[] = {
        [DEED_ENTER_MAINTENANCE] = HOST_ENTERING_MAINTENANCE,
        [DEED_EXIT_MAINTENANCE] = HOST_MAINTENANCE,
        [DEED_STANDBY] = HOST_ENTERING_STANDBY,
        [DEED_WAKE] = HOST_POWERING_ON,
    };

    if (deed_is_of_vm(t->deed))
        p->begun++;
    else
        host_at(p, t->host)->is.state = meanwhile[t->deed];
}

static int add_task(struct pretend *p, const struct task *t, struct task **ret, struct err *err)
{
    forget_tasks(p);
    if (p->n_tasks >= TASKS_MOST)
        return err_set(err, -EAGAIN, "too many tasks are under way");
    if (p->n_tasks == p->cap_tasks) {
        size_t cap = p->cap_tasks ? p->cap_tasks * 2 : 16;
        struct task *more = reallocarray(p->tasks, cap, sizeof *more);

        if (!more)
            return err_set(err, -ENOMEM, "out of memory");
        p->tasks = more;
        p->cap_tasks = cap;
    }
    *ret = &p->tasks[p->n_tasks++];
    **ret = *t;
    (void)snprintf((*ret)->name, sizeof(*ret)->name, "task-%08x-%u", p->instance, ++p->serial);
    return 0;
}

int pretend_start(struct pretend *p, const struct deed_request *request, char ret_task[TASK_NAME_MAX],
                  struct err *err)
{
    bool of_vm = deed_is_of_vm(request->deed);
    struct task wanted = {
        .deed = request->deed,
        .vm = of_vm ? snapshot_find_vm(&p->snap, request->vm) : IX_NONE,
        .from = request->deed == DEED_MIGRATE ? snapshot_find_host(&p->snap, request->from) : IX_NONE,
        .to = of_vm ? snapshot_find_host(&p->snap, request->to) : IX_NONE,
        .host = of_vm ? IX_NONE : snapshot_find_host(&p->snap, request->host),
    };
    struct task *t = find_like(p, &wanted);
    int r = 0;

    if (t && !is_same(t, &wanted))
        return err_set(err, -EBUSY, "another task (%s) is under way for %s", t->name,
                       of_vm ? request->vm : request->host);
    if (!t) {
        if ((r = pretend_check(p, request, err)) < 0)
            return r;
        if (request->only_adopt)
            return err_set(err, -ESRCH, "no task is under way for %s", of_vm ? request->vm : request->host);
        if ((r = add_task(p, &wanted, &t, err)) < 0)
            return r;
        t->fault = of_vm ? p->faults[t->vm] : PRETEND_OBEYS;
        enter_state(p, t);
        if (may_begin(p, t))
            begin_task(p, t, p->now_s(p->clock));
    }
    (void)snprintf(ret_task, TASK_NAME_MAX, "%s", t->name);
    return 0;
}

int pretend_cancel(struct pretend *p, const char *task, struct err *err)
{
    struct task *t = pretend_find_task(p, task);

    if (!t)
        return err_set(err, -ENOENT, "the task %s is not known", task);
    if (!under_way(t))
        return 0; /* it was quicker; poll() tells */
    if (deed_is_of_vm(t->deed)) {
        t->cancelled = true;
        return 0;
    }
    if (t->deed != DEED_ENTER_MAINTENANCE)
        return err_set(err, -ENOTSUP, "the task %s cannot be stopped any more", task);
    fail_task(t, -ECANCELED, "The task was canceled by a user.");
    host_at(p, t->host)->is.state = HOST_ON;
    return 0;
}

struct task *pretend_find_task(const struct pretend *p, const char *name)
{
    for (size_t i = 0; i < p->n_tasks; i++) {
        if (strcmp(p->tasks[i].name, name) == 0)
            return &p->tasks[i];
    }
    return NULL;
}

int pretend_percent(const struct pretend *p, const struct task *t)
{
    if (t->state == TASK_SUCCEEDED)
        return 100;
    if (t->state != TASK_RUNNING || isinf(t->duration_s))
        return t->state == TASK_QUEUED ? 0 : -1;
    double done = (p->now_s(p->clock) - t->begun_s) / t->duration_s;

    return (int)(100 * fmin(done, t->fault == PRETEND_HANGS ? 0.5 : 0.99));
}
