/* vsphere/task.h: reads a vCenter task: operation, state, progress, error.
 *
 * The descriptionId identifies the operation; it does not depend on language or version.
 *
 * Source: vSphere Web Services API, Task, TaskInfo, TaskDescription.methodInfo. */
#ifndef BALLAST_NET_VSPHERE_TASK_H
#define BALLAST_NET_VSPHERE_TASK_H

#include "net/xml.h"

/* The operation of a task; OTHER: none that Ballast starts or watches. */
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
    int64_t chain;        /* event chain id of the task's events; 0: none */
    char entity[128];     /* moref of the task's VM or host; "" */
    char started[40];     /* as the peer wrote it; "" */
    char error_type[64];  /* VSPHERE_TASK_ERROR */
    char error_text[256]; /* VSPHERE_TASK_ERROR: the peer's message */
};

static inline bool vsphere_task_is_active(const struct vsphere_task *t)
{
    return t->state == VSPHERE_TASK_QUEUED || t->state == VSPHERE_TASK_RUNNING;
}

/* Reads a TaskInfo (the property "info" of a Task). -EPROTO: the state is missing or unknown. */
int vsphere_task_read(const xml_node *info, struct vsphere_task *ret, struct err *err);

#endif
