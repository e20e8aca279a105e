/* operations.h: the operations of the vSphere actuator, on a VM (migrate.c, power_on.c) and on a host
 * (host_operations.c).
 *
 * Each has two functions: one checks whether the operation still makes sense, the other begins it.
 * vsphere.c has what they share: reading the object, adopting a running task, polling, cancelling.
 */
#ifndef BALLAST_ACTUATORS_VSPHERE_OPERATIONS_H
#define BALLAST_ACTUATORS_VSPHERE_OPERATIONS_H

#include "net/vsphere/props.h"
#include "net/vsphere/task.h"

#include <ballast/actuator.h>

#define MOREF_MAX 128

/* A VM's or a host's state, with the task that works on it. */
struct entity {
    char name[MOREF_MAX]; /* for people; the moref when it has none */
    bool powered_on, standby, connected, in_maintenance, vsan;
    char host[MOREF_MAX]; /* of a VM */
    char identity[64];    /* of a VM: its instanceUuid */
    struct vsphere_task task;
    char task_name[TASK_NAME_MAX]; /* "": no queued or running task of the work that was asked for */
};

/* Reads the object in one round trip. -ENOENT: the object is gone. */
int vsphere_entity_look(struct vsphere *v, const char *type, const char *id, enum vsphere_work work,
                        struct entity *ret, struct err *err);

/* Calls a method that returns a task. Errors of vsphere_call(), and -EPROTO: the answer names no task. */
int vsphere_call_for_task(struct vsphere *v, const char *method, const struct strbuf *body,
                          char ret_task[TASK_NAME_MAX], struct err *err);

/* Whether the destination can take VMs; its name goes to ret_name. -EHOSTDOWN: it cannot; -ENOENT: the host
 * is gone. */
int migrate_can_arrive(struct vsphere *v, const struct operation *q, char ret_name[MOREF_MAX],
                       struct err *err);

/* Whether the VM still runs on the source host. -ESTALE: it does not. */
int migrate_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                   struct err *err);
int migrate_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err);
/* Whether the running task has the same destination. 0: it has, or the destination is unknown; -EBUSY: it
 * has another. */
int migrate_goes_there(struct vsphere *v, const struct operation *q, const struct entity *vm,
                       struct err *err);

/* Whether the VM is off or suspended. -ESTALE: it runs. */
int power_on_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                    struct err *err);
/* Whether the VM would start on the requested host. -EPERM: vCenter's DRS chooses the host itself. */
int power_on_is_ours(struct vsphere *v, const struct operation *q, const struct entity *vm, struct err *err);
int power_on_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err);

/* -ESTALE: the host is in the requested state already. */
int host_operation_is_due(const struct vsphere *v, const struct operation *q, const struct entity *host,
                          struct err *err);
int host_operation_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err);

/* pools.c: apply_settings() of the contract. */
int pools_apply(struct vsphere *v, const struct pool_settings *q, struct err *err);

#endif
