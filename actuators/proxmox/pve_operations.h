/* pve_operations.h: the operations of the actuator: pve_migrate.c checks and begins migrations and starts of
 * guests, pve_start.c divides a start into these, pve_follow.c follows and cancels them, pve_power.c puts
 * nodes to standby and wakes them, pve_activity.c tells what goes on there. */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_OPERATIONS_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_OPERATIONS_H

#include "base/idmap.h"
#include "net/proxmox/session.h"
#include "net/proxmox/settings.h"

#include <ballast/actuator.h>

struct pve_acting {
    struct pve *api;
    const struct proxmox_settings *settings;
    struct idmap logs; /* by UPID: struct pve_log, the part that this object has read */
    unsigned workers;  /* migrations that a node may carry out at a time; 0: options not read yet */
    bool ha_chooses;   /* HA chooses the node whenever it starts a guest */
    int64_t options_ms;
};

/* Of OPERATION_MIGRATE; and of OPERATION_POWER_ON_VM with the guest's node as q->from: a migration of the
 * guest that is off, or its start if q->from is q->to. */

int pve_migrate_check(struct pve_acting *x, const struct operation *q, struct err *err);
int pve_migrate_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                      struct err *err);

/* The API's own check. It covers storages, devices and HA's rules, but neither memory, CPUs nor bridges, and
 * it allows nodes that are off. Version 8 has no check for containers. */
int pve_precondition_check(struct pve_acting *x, const struct operation *q, bool container, struct err *err);

/* OPERATION_POWER_ON_VM: the guest is looked for, and migrated first if it is not on q->to. */
int pve_start_check(struct pve_acting *x, const struct operation *q, struct err *err);
int pve_start_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err);
int pve_start_poll(struct pve_acting *x, const struct operation *q, const char *task,
                   struct task_progress *ret, struct err *err);

int pve_follow_poll(struct pve_acting *x, const char *task, struct task_progress *ret, struct err *err);
int pve_follow_cancel(struct pve_acting *x, const char *task, struct err *err);
void pve_follow_forget(struct pve_acting *x);

/* Standby and wake of a node: pve_power.c. */
int pve_power_check(struct pve_acting *x, const struct operation *q, struct err *err);
int pve_power_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err);
int pve_power_poll(struct pve_acting *x, const struct operation *q, const char *task,
                   struct task_progress *ret, struct err *err);

/* Whether no guest is on the node or on its way there, by a task or by HA: -EBUSY. The looks are in such an
 * order that what begins meanwhile is seen, up to the last request: nothing comes but by HA's manager or by a
 * task, and each task that is not in the first list of them is in the last, even if it has ended. */
int pve_activity_check(struct pve *p, const char *node, struct err *err);

/* Whether a refusal has the reason that the guest is locked, which is no failure of the move. */
bool pve_is_lock(const char *reason);

#endif
