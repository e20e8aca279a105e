/* pve_operations.h: the operations of the actuator: pve_migrate.c checks and begins them, pve_follow.c
 * follows and cancels them. */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_OPERATIONS_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_OPERATIONS_H

#include "base/idmap.h"
#include "net/proxmox/session.h"
#include "net/proxmox/settings.h"

#include <ballast/actuator.h>

struct pve_acting {
    struct pve *api;
    const struct proxmox_settings *settings;
    struct idmap logs; /* by UPID: struct pve_log, as far as this object has read it */
    unsigned workers;  /* migrations that a node may carry out at a time; 0: not asked yet */
    int64_t workers_ms;
};

int pve_migrate_check(struct pve_acting *x, const struct operation *q, struct err *err);
int pve_migrate_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                      struct err *err);

int pve_follow_poll(struct pve_acting *x, const char *task, struct task_progress *ret, struct err *err);
int pve_follow_cancel(struct pve_acting *x, const char *task, struct err *err);
void pve_follow_forget(struct pve_acting *x);

/* Standby and wake of a node: pve_power.c. */
int pve_power_check(struct pve_acting *x, const struct operation *q, struct err *err);
int pve_power_start(struct pve_acting *x, const struct operation *q, char ret_task[TASK_NAME_MAX],
                    struct err *err);
int pve_power_poll(struct pve_acting *x, const struct operation *q, const char *task,
                   struct task_progress *ret, struct err *err);

/* The error of a refusal that is no failure of the move: the guest is locked. */
bool pve_is_lock(const char *reason);

#endif
