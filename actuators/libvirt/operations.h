/* operations.h: the operations on a VM. Calls block until the hosts answer or their connections are closed;
 * libvirt.c bounds them. Results as in ballast/actuator.h. */
#ifndef BALLAST_ACTUATORS_LIBVIRT_OPERATIONS_H
#define BALLAST_ACTUATORS_LIBVIRT_OPERATIONS_H

#include "actuators/libvirt/vm_look.h"

#include <ballast/actuator.h>

int migrate_check(struct migrations *m, const struct operation *q, struct err *err);
int migrate_start(struct migrations *m, const struct operation *q, char ret_task[TASK_NAME_MAX],
                  struct err *err);
int migrate_cancel(struct migrations *m, const struct task_name *t, struct err *err);

int power_on_check(struct migrations *m, const struct operation *q, struct err *err);
int power_on_start(struct migrations *m, const struct operation *q, char ret_task[TASK_NAME_MAX],
                   struct err *err);
int power_on_cancel(struct migrations *m, const struct task_name *t, struct err *err);

/* Of either kind. */
int follow_task(struct migrations *m, const struct task_name *t, struct task_progress *ret, struct err *err);

/* Sets the controls of VMs on a host, in running VMs; persistent: in their definitions, too. */
int scheduler_apply(struct migrations *m, const struct pool_settings *q, bool persistent, struct err *err);

/* Whether the destination can take the VM, as it is on looks->from: networks, storage, a free name; the CPU,
 * if it runs. */
int destination_check(const struct vm_looks *looks, struct err *err);

/* The disks of the VM on `from` that a migration copies, by its settings, in the arena. -EPERM: another VM of
 * the destination has the path of one, or that cannot be known. */
int copied_disks_find(const struct migrations *m, const char *vm, const struct vm_looks *looks,
                      struct arena *a, struct call_disks *ret, struct err *err);

#endif
