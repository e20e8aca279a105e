/* place.h: where to power VMs on (§3.2).
 *
 * The VMs do not run: they are off, suspended, or new and on no host. Nothing is known of what they will use,
 * so each is taken to use all it can: its configured memory, a core for each vCPU. Several are placed
 * together, the largest first. A VM that fits nowhere gets room by moving others away (ACTION_MIGRATE with
 * REASON_PREREQUISITE); failing that a host is woken (ACTION_POWER_ON); failing that there is a fault that
 * names what was short by how much.
 */
#ifndef BALLAST_CORE_PLACE_H
#define BALLAST_CORE_PLACE_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

/* vms: indices into snap->vms, each once. The plan's recommendations are ACTION_PLACE (vm, to = the host;
 * from = IX_NONE) and what they depend on, in an order in which they can be carried out. With a single VM its
 * recommendation lists alternatives. -EINVAL: a VM that runs already. */
int place_run(const struct snapshot *snap, const struct policy *policy, const uint32_t *vms, uint32_t n_vms,
              struct arena *a, struct plan *ret, struct err *err);

#endif
