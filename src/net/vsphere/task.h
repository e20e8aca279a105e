/* vsphere/task.h: tasks of a vCenter: what they are doing, and which of them concern us.
 *
 * A task is recognised by its descriptionId, which stays the same whatever the language and the version.
 *
 * Source: vSphere Web Services API, Task, TaskInfo, TaskDescription.methodInfo.
 */
#ifndef BALLAST_NET_VSPHERE_TASK_H
#define BALLAST_NET_VSPHERE_TASK_H

#include "net/xml.h"

/* What a task is about, as far as it matters here. */
enum vsphere_work {
    VSPHERE_WORK_OTHER,
    VSPHERE_WORK_MIGRATE,
    VSPHERE_WORK_POWER_ON,
    VSPHERE_WORK_ENTER_MAINTENANCE,
    VSPHERE_WORK_EXIT_MAINTENANCE,
    VSPHERE_WORK_STANDBY,
    VSPHERE_WORK_WAKE,
};

enum vsphere_task_state {
    VSPHERE_TASK_QUEUED,
    VSPHERE_TASK_RUNNING,
    VSPHERE_TASK_SUCCESS,
    VSPHERE_TASK_ERROR
};

struct vsphere_task {
    enum vsphere_work work;
    enum vsphere_task_state state;
    int percent; /* -1: not known */
    bool cancelable;
    int64_t chain;        /* of the events that the task causes; 0: none */
    char entity[128];     /* moref of the VM or host that it works on; "" */
    char started[40];     /* as the peer wrote it; "" */
    char error_type[64];  /* VSPHERE_TASK_ERROR */
    char error_text[256]; /* VSPHERE_TASK_ERROR: the peer's own words */
};

static inline bool vsphere_task_is_active(const struct vsphere_task *t)
{
    return t->state == VSPHERE_TASK_QUEUED || t->state == VSPHERE_TASK_RUNNING;
}

/* Reads a TaskInfo (the value of the property "info" of a Task). -EPROTO: it has no known state. */
int vsphere_task_read(const xml_node *info, struct vsphere_task *ret, struct err *err);

#endif
