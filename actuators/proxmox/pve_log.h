/* pve_log.h: reads the lines of a migration's log. Pure.
 *
 *     starting migration of VM 100 to node 'n2' (192.0.2.12)
 *     Requesting HA migration for VM 100 to node n2
 *     drive-scsi0: transferred 1.0 GiB of 32.0 GiB (3.12%) in 10s
 *     migration active, transferred 1.2 GiB of 8.0 GiB VM-state, 110.0 MiB/s
 *     migration active, transferred 9.1 GiB of 8.0 GiB VM-state, 55.0 MiB/s, VM dirties lots of memory: 61.2
 * MiB/s average migration speed: 1.0 GiB/s - downtime 48 ms migration finished successfully (duration
 * 00:00:41) ERROR: online migrate failure - aborting TASK ERROR: migration problems
 *
 * Source: pve-guest-common (AbstractMigrate.pm), qemu-server (QemuMigrate.pm), pve-container (Migrate.pm). */
#ifndef BALLAST_ACTUATORS_PROXMOX_PVE_LOG_H
#define BALLAST_ACTUATORS_PROXMOX_PVE_LOG_H

#include "net/proxmox/session.h"

struct pve_log {
    int64_t lines; /* read so far */
    int percent;   /* -1: not known */
    bool disks;    /* local disks are copied, before the memory */
    double took_s, downtime_s;
    double memory_mb,
        copied_mb; /* of the guest; sent so far, in all rounds, or of the disk before; 0: not known */
    double rate_mb_s, dirty_mb_s; /* as the last line said; the second is said only while it is the greater */
    char to[PVE_NODE_MAX];        /* the destination; "": no line has named it yet */
    char error[200];              /* of the first "ERROR:" line; "": none */
};

void pve_log_init(struct pve_log *l);
void pve_log_take(struct pve_log *l, const char *line);

#endif
