/* place.h: on which hosts to power VMs on (§3.2).
 *
 * The VMs do not run: they are off, suspended, or new and on no host. Their demand is unknown, so each counts
 * with all it can use: its configured memory, a core per vCPU. Several VMs are placed together, the largest
 * first. If no host has the capacity, other VMs move away (ACTION_MIGRATE with REASON_PREREQUISITE); if that
 * fails, a host is woken (ACTION_POWER_ON); if that fails, a fault states the shortage. */
#ifndef BALLAST_CORE_PLACE_H
#define BALLAST_CORE_PLACE_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

/* vms: indices into snap->vms, each once. The plan's recommendations are ACTION_PLACE (vm, to = the host;
 * from = IX_NONE) and their dependencies, in an order in which they can be carried out. A single VM's
 * recommendation lists alternatives. -EINVAL: a VM already runs. */
int place_run(const struct snapshot *snap, const struct policy *policy, const uint32_t *vms, uint32_t n_vms,
              struct arena *a, struct plan *ret, struct err *err);

#endif
