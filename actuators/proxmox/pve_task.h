/* pve_task.h: names of tasks.
 *
 *     UPID:NODE:PID:PSTART:START:TYPE:ID:USER:      a task of Proxmox VE, numbers hexadecimal
 *     HA:vm:100:n1:n2:6AB13B80:UPID                 a move that was requested from HA, with its time by the
 *                                                   manager's clock, and the UPID of the request, "" once
 *                                                   that task has ended
 *     HA:vm:100:n2:n2:6AB13B80:UPID                 the same of a start
 *
 * Source: pve-common (PVE/UPID.pm). */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_TASK_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_TASK_H

#include "net/proxmox/session.h"

#include <ballast/actuator.h>

#define PVE_ID_MAX 16 /* bytes of a VMID, with its end */

struct pve_upid {
    char node[PVE_NODE_MAX];
    char type[32]; /* "qmigrate", "vzmigrate", "hamigrate" */
    char id[PVE_ID_MAX];
    int64_t start_s; /* by the node's clock */
};

/* Whether the text is a UPID of a guest's task. */
bool pve_upid_read(const char *text, struct pve_upid *ret);

struct pve_ha_move {
    bool container;
    char id[PVE_ID_MAX], from[PVE_NODE_MAX], to[PVE_NODE_MAX];
    int64_t since_s;
    char upid[TASK_NAME_MAX];
};

bool pve_ha_name_read(const char *name, struct pve_ha_move *ret);
/* Leaves the UPID out where the name would be too long. Then a refused request is known only by the time that
 * passes without a move. */
void pve_ha_name_write(const struct pve_ha_move *m, char ret[TASK_NAME_MAX]);

/* Whether the text is a VMID, so that it can be part of a path. */
bool pve_is_vmid(const char *text);

#endif
