/* operations.h: the operations of the vSphere actuator: of a VM (migrate.c, power_on.c) and of a host
 * (host_operations.c).
 *
 * Each has two parts: whether the operation makes sense as things stand, and the method that begins it. What
 * is common (looking, adopting a task that runs already, polling, cancelling) is in vsphere.c.
 */
#ifndef BALLAST_ACTUATORS_VSPHERE_OPERATIONS_H
#define BALLAST_ACTUATORS_VSPHERE_OPERATIONS_H

#include "net/vsphere/props.h"
#include "net/vsphere/task.h"

#include <ballast/actuator.h>

#define MOREF_MAX 128

/* A VM or a host as it stands, with the task that works on it. */
struct entity {
    char name[MOREF_MAX]; /* for people; the moref when it has none */
    bool powered_on, standby, connected, in_maintenance;
    char host[MOREF_MAX]; /* of a VM */
    struct vsphere_task task;
    char task_name[TASK_NAME_MAX]; /* "": no queued or running task of the work that was asked for */
};

/* Reads it in one round trip. -ENOENT: it is gone. */
int vsphere_entity_look(struct vsphere *v, const char *type, const char *id, enum vsphere_work work,
                        struct entity *ret, struct err *err);

/* Calls a method that gives a task. Errors of vsphere_call(), and -EPROTO: its answer names none. */
int vsphere_call_for_task(struct vsphere *v, const char *method, const struct strbuf *body,
                          char ret_task[TASK_NAME_MAX], struct err *err);

/* Can the destination of a VM take VMs? -EHOSTDOWN: no; -ENOENT: it is gone. */
int migrate_can_arrive(struct vsphere *v, const struct operation *q, struct err *err);

/* Is the VM still where it shall leave, and running? -ESTALE: no. */
int migrate_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                   struct err *err);
int migrate_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err);
/* Does the running task go to the same destination? 0: yes, or nobody can tell; -EBUSY: it goes elsewhere. */
int migrate_goes_there(struct vsphere *v, const struct operation *q, const struct entity *vm,
                       struct err *err);

/* Is the VM off, or suspended? -ESTALE: it runs, there or elsewhere. */
int power_on_is_due(const struct vsphere *v, const struct operation *q, const struct entity *vm,
                    struct err *err);
/* Would it start where we say? -EPERM: DRS of vCenter chooses a host of its own. */
int power_on_is_ours(struct vsphere *v, const struct operation *q, const struct entity *vm, struct err *err);
int power_on_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err);

/* -ESTALE: the host is as it should become already. */
int host_operation_is_due(const struct vsphere *v, const struct operation *q, const struct entity *host,
                          struct err *err);
int host_operation_begin(struct vsphere *v, const struct operation *q, char ret_task[TASK_NAME_MAX],
                         struct err *err);

/* pools.c: apply_settings() of the contract. */
int pools_apply(struct vsphere *v, const struct pool_settings *q, struct err *err);

#endif
