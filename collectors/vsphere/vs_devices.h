/* vs_devices.h: devices of VMs that bind them to hosts: vGPUs, passthrough devices, raw device mappings.
 *
 * The list of a VM's devices is some 10 KB, so it is read once for each version of the VM's configuration.
 *
 * Source: vSphere Web Services API, VirtualDevice and its types; Broadcom KB 318824 (vMotion and vGPU).
 */
#ifndef BALLAST_COLLECTORS_VSPHERE_VS_DEVICES_H
#define BALLAST_COLLECTORS_VSPHERE_VS_DEVICES_H

#include "collectors/vsphere/vs_inventory.h"
#include "net/vsphere/parallel.h"

struct vm_devices {
    const char *version;        /* of the configuration that it was read from */
    struct ids vgpus;           /* profiles: "grid_p40-2q" */
    const char *immovable;      /* a device that keeps the VM on its host, a phrase; NULL: none */
    const char *mandatory_only; /* one that makes a move dear or risky, a phrase; NULL: none */
};

/* What was read, by VM. */
struct vs_devices_cache;

void vs_devices_cache_free(struct vs_devices_cache *c); /* NULL is fine */

/* Sets the devices of each VM of the inventory, and reads those that are new or have changed. *c is made at
 * the first call; the devices live until the next one. VMs that are gone have none. Errors of vsphere_call().
 */
int vs_devices_collect(struct vs_devices_cache **c, struct parallel **p, struct vsphere *v,
                       struct vs_inventory *s, struct err *err);

/* Reads one list: the value of config.hardware.device. */
void vs_devices_read(const xml_node *list, struct arena *a, struct vm_devices *ret);

#endif
