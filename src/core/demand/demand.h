/* demand.h: the demand of a VM: its use of a resource without contention (§2.3). */
#ifndef BALLAST_CORE_DEMAND_H
#define BALLAST_CORE_DEMAND_H

#include <ballast/arena.h>
#include <ballast/inventory.h>
#include <ballast/snapshot.h>

/* CPU: used + run / (run + sleep) × ready, in MHz. Ready time counts in proportion to the time in which the
 * VM wanted to run, at the speed of a core; all of it if run and sleep are unknown. UNKNOWN if the sample has
 * no CPU usage. Ready time never raises demand above what all vCPUs can use, since a core above its nominal
 * speed may use its MHz in less time. Usage above that, and ready time longer than the interval, pass
 * unchanged: they are impossible, and the guard reports them. */
double demand_cpu_mhz(const struct vm_sample *s, uint32_t vcpus);

/* Memory: working set + idle_percent of the idle consumed memory + overhead, in MiB. The working set is what
 * the hypervisor saw touched, else the guest's usage, else the consumed memory. UNKNOWN if none is known. */
double demand_mem_mb(const struct vm_sample *s, double idle_percent);

/* Demand and windows of a VM as if its host took no memory from it (vm_facts_squeezed_mb()). Moved, it takes
 * as much physical memory. */
void demand_release(struct vm_facts *v);

/* The demand by VM: the snapshot's, with what it is squeezed by, capped by what the VM could use, within
 * reservation and limit; 0 for VMs that take no part. */
void demand_estimate(const struct snapshot *snap, enum resource r, double *ret_demand);

/* Adds the configured demand of VMs that wait for placement. */
void demand_add_waiting(const struct snapshot *snap, enum resource r, double *demand);

#endif
