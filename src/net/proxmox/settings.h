/* settings.h: the configuration of a Proxmox VE cluster (`source: kind: proxmox`), beside what all sources
 * have. */
#ifndef BALLAST_NET_PROXMOX_SETTINGS_H
#define BALLAST_NET_PROXMOX_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct proxmox_settings {
    const char *const *other_urls;   /* of other nodes of the cluster, NULL at the end; NULL: none */
    const char *const *fingerprints; /* of certificates, as http.h has them; NULL or empty: none */
    bool restart_containers;         /* a container that must leave its node is stopped, moved and started */
    bool local_disks;                /* running VMs move with disks that are not shared */
    const char *target_storage;      /* for these disks; NULL: a storage of the same name */
    uint32_t bandwidth_mbs;          /* MiB/s of one migration; 0: the datacenter's limit */
};

#endif
