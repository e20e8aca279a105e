/* vsphere.c: the vSphere actuator's functions: reads the object, adopts a running task, polls and cancels.
 * The single operations are in the files that operations.h lists. */
#include "actuators/vsphere/vsphere.h"

#include "actuators/vsphere/move_checker.h"
#include "actuators/vsphere/operations.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct actuator {
    struct vsphere *vsphere;
    struct move_checker checker;
};

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct actuator *x = xcalloc(1, sizeof *x);

    int r = vsphere_new(cfg, &x->vsphere, err);
    if (r < 0) {
        free(x);
        return r;
    }
    *ret = x;
    return 0;
}

static void destroy(struct actuator *x)
{
    if (!x)
        return;
    vsphere_free(x->vsphere);
    free(x);
}

/* ---- looking */

struct looker {
    struct entity *entity;
    const char *id;
    enum vsphere_work work;
    bool found;
};

static void look_begin(void *ctx)
{
    struct looker *l = ctx;

    *l->entity = (struct entity){0};
    l->found = false;
}

static void look_task(struct looker *l, const struct vsphere_object *o)
{
    struct vsphere_task t;

    if (vsphere_task_read(vsphere_prop(o, "info"), &t, NULL) < 0 || !vsphere_task_is_active(&t) ||
        t.work != l->work || strcmp(t.entity, l->id) != 0)
        return;
    l->entity->task = t;
    (void)snprintf(l->entity->task_name, sizeof l->entity->task_name, "%s", o->value);
}

static int look_object(void *ctx, const struct vsphere_object *o, struct err *err)
{
    struct looker *l = ctx;
    struct entity *e = l->entity;

    (void)err;
    if (strcmp(o->type, "Task") == 0) {
        look_task(l, o);
        return 0;
    }
    if (strcmp(o->value, l->id) != 0)
        return 0;
    l->found = true;
    xml_line(vsphere_prop(o, "name"), e->name, sizeof e->name);
    if (!e->name[0])
        (void)snprintf(e->name, sizeof e->name, "%s", l->id);
    xml_line(vsphere_prop(o, "runtime.host"), e->host, sizeof e->host);
    xml_line(vsphere_prop(o, "config.instanceUuid"), e->identity, sizeof e->identity);
    e->powered_on = xml_text_is(vsphere_prop(o, "runtime.powerState"), "poweredOn");
    e->standby = xml_text_is(vsphere_prop(o, "runtime.powerState"), "standBy") ||
                 xml_text_is(vsphere_prop(o, "runtime.standbyMode"), "in");
    e->connected = xml_text_is(vsphere_prop(o, "runtime.connectionState"), "connected");
    e->in_maintenance = xml_bool(vsphere_prop(o, "runtime.inMaintenanceMode"));
    e->vsan = xml_bool(vsphere_prop(o, "config.vsanHostConfig.enabled"));
    return 0;
}

int vsphere_entity_look(struct vsphere *v, const char *type, const char *id, enum vsphere_work work,
                        struct entity *ret, struct err *err)
{
    static const char *const vm_paths[] = {
        "name", "runtime.host", "runtime.powerState", "runtime.connectionState", "config.instanceUuid", NULL};
    static const char *const host_paths[] = {"name",
                                             "runtime.powerState",
                                             "runtime.standbyMode",
                                             "runtime.connectionState",
                                             "runtime.inMaintenanceMode",
                                             "config.vsanHostConfig.enabled",
                                             NULL};
    static const char *const task_paths[] = {"info", NULL};
    static const char *const first[] = {"tasks", NULL};
    const struct vsphere_wanted wanted[] = {
        {type, strcmp(type, "VirtualMachine") == 0 ? vm_paths : host_paths}, {"Task", task_paths}};
    const struct vsphere_step step = {"tasks", type, "recentTask", NULL};
    const struct vsphere_query q = {.start_type = type,
                                    .start = id,
                                    .wanted = wanted,
                                    .n_wanted = 2,
                                    .steps = &step,
                                    .n_steps = 1,
                                    .first = first};
    struct looker l = {.entity = ret, .id = id, .work = work};
    const struct vsphere_reader reader = {.begin = look_begin, .object = look_object, .ctx = &l};
    int r = vsphere_retrieve(v, &q, &reader, err);

    if (r == -ENOENT || (r == 0 && !l.found))
        return err_set(err, -ENOENT, "%s: there is no %s %s any more", vsphere_url(v),
                       strcmp(type, "VirtualMachine") == 0 ? "VM" : "host", id);
    return r;
}

static enum vsphere_work work_of(enum operation_kind operation)
{
    switch (operation) {
    case OPERATION_MIGRATE:
        return VSPHERE_WORK_MIGRATE;
    case OPERATION_ENTER_MAINTENANCE:
        return VSPHERE_WORK_ENTER_MAINTENANCE;
    case OPERATION_EXIT_MAINTENANCE:
        return VSPHERE_WORK_EXIT_MAINTENANCE;
    case OPERATION_STANDBY:
        return VSPHERE_WORK_STANDBY;
    case OPERATION_WAKE:
        return VSPHERE_WORK_WAKE;
    case OPERATION_POWER_ON_VM:
        return VSPHERE_WORK_POWER_ON;
    }
    return VSPHERE_WORK_OTHER;
}

static int look(struct vsphere *v, const struct operation *q, struct entity *ret, struct err *err)
{
    bool of_vm = operation_is_of_vm(q->kind);

    return vsphere_entity_look(v, of_vm ? "VirtualMachine" : "HostSystem", of_vm ? q->vm : q->host,
                               work_of(q->kind), ret, err);
}

static int is_due(const struct vsphere *v, const struct operation *q, const struct entity *e, struct err *err)
{
    if (q->identity && e->identity[0] && strcmp(q->identity, e->identity) != 0)
        return err_set(err, -ESTALE, "%s: VM %s is another one than was meant: it has %s for %s",
                       vsphere_url(v), e->name, e->identity, q->identity);
    if (q->kind == OPERATION_MIGRATE)
        return migrate_is_due(v, q, e, err);
    return q->kind == OPERATION_POWER_ON_VM ? power_on_is_due(v, q, e, err)
                                            : host_operation_is_due(v, q, e, err);
}

static int begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    if (q->kind == OPERATION_MIGRATE)
        return migrate_begin(v, q, ret_task, err);
    return q->kind == OPERATION_POWER_ON_VM ? power_on_begin(v, q, ret_task, err)
                                            : host_operation_begin(v, q, ret_task, err);
}

static int check_request(const struct operation *q, struct err *err)
{
    if (operation_is_of_vm(q->kind) ? !q->vm || !q->to : !q->host)
        return err_set(err, -EINVAL, "the request names no %s",
                       operation_is_of_vm(q->kind) ? "VM or destination" : "host");
    if (q->kind == OPERATION_MIGRATE && !q->from)
        return err_set(err, -EINVAL, "the request names no source");
    return 0;
}

/* ---- the contract */

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    struct entity e;
    char host_name[MOREF_MAX];
    int r = check_request(q, err);

    vsphere_deadline_from_config(x->vsphere);
    if (r < 0 || (r = look(x->vsphere, q, &e, err)) < 0 || (r = is_due(x->vsphere, q, &e, err)) < 0)
        return r;
    if (q->kind == OPERATION_POWER_ON_VM && (r = power_on_is_ours(x->vsphere, q, &e, err)) < 0)
        return r;
    if (!operation_is_of_vm(q->kind))
        return 0;
    r = migrate_can_arrive(x->vsphere, q, host_name, err);
    if (r < 0 || q->kind != OPERATION_MIGRATE || q->off)
        return r;
    return move_checker_ask(&x->checker, x->vsphere, q, e.name, host_name, err);
}

/* 1 and the name of a running task, if there is one. */
static int adopt(struct vsphere *v, const struct operation *q, const struct entity *e,
                 char ret_task[TASK_NAME_MAX], struct err *err)
{
    if (!e->task_name[0])
        return 0;
    int r = q->kind == OPERATION_MIGRATE ? migrate_goes_there(v, q, e, err) : 0;
    if (r < 0)
        return r;
    log_info("%s: %s runs already for action %s and is followed", vsphere_url(v), e->task_name, q->uid);
    memcpy(ret_task, e->task_name, TASK_NAME_MAX);
    return 1;
}

static int look_and_adopt(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                          struct err *err)
{
    struct entity e;
    int r = look(v, q, &e, err);

    /* a host in transition may show either state: its task decides first */
    if (r == 0 && q->kind != OPERATION_MIGRATE && (r = adopt(v, q, &e, ret_task, err)) != 0)
        return r;
    if (r == 0)
        r = is_due(v, q, &e, err);
    return r < 0 ? r : adopt(v, q, &e, ret_task, err);
}

/* Another caller was quicker, perhaps an earlier request of Ballast whose answer was lost: the object is
 * busy with the same operation, or in its final state already. */
static bool came_too_late(const struct vsphere *v, int code)
{
    return code == -EBUSY || (code == -EREMOTEIO && strcmp(vsphere_fault(v)->type, "InvalidPowerState") == 0);
}

static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    struct vsphere *v = x->vsphere;
    int r = check_request(q, err);

    vsphere_deadline_from_config(v);
    if (r < 0 || (r = look_and_adopt(v, q, ret_task, err)) < 0)
        return r;
    if (r > 0)
        return 0;
    if (q->only_adopt)
        return err_set(err, -ESRCH, "%s: no task of action %s runs", vsphere_url(v), q->uid);
    r = begin(v, q, ret_task, err);
    if (r == 0 || !came_too_late(v, r))
        return r;
    struct err first = err ? *err : (struct err){0};
    int again = look_and_adopt(v, q, ret_task, err);
    if (again == 0 && err)
        *err = first;
    return again > 0 ? 0 : again < 0 ? again : r;
}

static enum task_state state_of(enum vsphere_task_state state)
{
    switch (state) {
    case VSPHERE_TASK_QUEUED:
        return TASK_QUEUED;
    case VSPHERE_TASK_RUNNING:
        return TASK_RUNNING;
    case VSPHERE_TASK_SUCCESS:
        return TASK_SUCCEEDED;
    case VSPHERE_TASK_ERROR:
        break;
    }
    return TASK_FAILED;
}

static int read_task(struct vsphere *v, const char *task, struct vsphere_task *ret, struct err *err)
{
    static const char *const paths[] = {"info", NULL};
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_object o;
    int r = vsphere_get(v, "Task", task, paths, &answer, &o, err);

    if (r < 0)
        return r;
    r = vsphere_task_read(vsphere_prop(&o, "info"), ret, err);
    return r < 0 ? err_widen(err, "%s: %s", vsphere_url(v), task) : 0;
}

static int poll_task(struct actuator *x, const struct operation *q, const char *task,
                     struct task_progress *ret, struct err *err)
{
    struct vsphere_task t;

    (void)q;
    vsphere_deadline_from_config(x->vsphere);
    int r = read_task(x->vsphere, task, &t, err);
    if (r == -ENOENT) {
        *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1, .gone = true};
        (void)err_set(&ret->why, -ENOENT, "%s: vCenter no longer knows %s", vsphere_url(x->vsphere), task);
        return 0;
    }
    if (r < 0)
        return r;
    *ret = (struct task_progress){.state = state_of(t.state), .percent = t.percent};
    if (t.state == VSPHERE_TASK_SUCCESS)
        ret->percent = 100;
    if (t.state == VSPHERE_TASK_ERROR)
        (void)err_set(&ret->why, strcmp(t.error_type, "RequestCanceled") == 0 ? -ECANCELED : -EREMOTEIO,
                      "vCenter says: %s%s%s%s", t.error_text[0] ? t.error_text : "it failed, no reason given",
                      t.error_type[0] ? " (" : "", t.error_type, t.error_type[0] ? ")" : "");
    return 0;
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf body = STRBUF_EMPTY;
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    struct vsphere_task t;

    (void)q;
    vsphere_deadline_from_config(x->vsphere);
    int r = read_task(x->vsphere, task, &t, err);
    if (r < 0)
        return r;
    if (!vsphere_task_is_active(&t))
        return 0; /* poll() returns how the task ended */
    if (!t.cancelable)
        return err_set(err, -ENOTSUP, "%s: %s cannot be cancelled any more", vsphere_url(x->vsphere), task);
    vsphere_begin(&body, "CancelTask", "Task", task);
    vsphere_end(&body, "CancelTask");
    return vsphere_call(x->vsphere, "CancelTask", &body, &answer, err);
}

static int apply_settings(struct actuator *x, const struct pool_settings *request, struct err *err)
{
    vsphere_deadline_from_config(x->vsphere);
    return pools_apply(x->vsphere, request, err);
}

/* The task's name in a method's answer. */
static int task_name_read(const struct vsphere *v, const xml_node *payload, char ret_task[TASK_NAME_MAX],
                          struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *name = xml_text(xml_child(payload, "returnval"), &a);

    if (!name || !name[0] || strlen(name) >= TASK_NAME_MAX)
        return err_set(err, -EPROTO, "%s: the answer names no task", vsphere_url(v));
    memcpy(ret_task, name, strlen(name) + 1);
    return 0;
}

int vsphere_call_for_task(struct vsphere *v, const char *method, const struct strbuf *body,
                          char ret_task[TASK_NAME_MAX], struct err *err)
{
    CLEANUP(soap_answer_releasep) struct soap_answer answer = {0};
    int r = vsphere_call(v, method, body, &answer, err);

    return r < 0 ? r : task_name_read(v, answer.payload, ret_task, err);
}

const struct actuator_ops vsphere_actuator = {
    .kind = "vsphere",
    .operations = OPERATIONS_ALL,
    .create = create,
    .check = check,
    .start = start,
    .poll = poll_task,
    .cancel = cancel,
    .apply_settings = apply_settings,
    .destroy = destroy,
};
