/* pve_preflight.h: what an admin should know of a Proxmox VE cluster before the service starts. */
#ifndef BALLAST_COLLECTORS_PROXMOX_PVE_PREFLIGHT_H
#define BALLAST_COLLECTORS_PROXMOX_PVE_PREFLIGHT_H

#include "collectors/proxmox/pve_look.h"

#include <ballast/inventory.h>
#include <ballast/preflight.h>

/* inv NULL: the look failed with *err. operations: 1u << OPERATION_* that the service carries out by itself.
 */
void pve_preflight(struct pve_look *l, const struct pve_view *view, const struct inventory *inv,
                   const struct err *err, unsigned operations, struct preflight *ret);

#endif
