/* proxmox/guest_identity.h: what tells a guest of Proxmox VE from another one that is given its VMID later.
 */
#ifndef BALLAST_NET_PROXMOX_GUEST_IDENTITY_H
#define BALLAST_NET_PROXMOX_GUEST_IDENTITY_H

#include <jansson.h>

#define PVE_IDENTITY_MAX 64

/* Of its configuration (GET .../config): the UUID of smbios1, which a guest keeps for life; where it has
 * none, vmgenid; of a container, and of a guest without either, the MAC address of net0. Each is made up at
 * random when the guest is created. "": it has none of them. Source: pve-docs (qm.conf.5, pct.conf.5). */
void pve_guest_identity(const json_t *config, char ret[PVE_IDENTITY_MAX]);

#endif
