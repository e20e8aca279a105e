/* demand.h: what a VM would use if nothing held it back (§2.3). */
#ifndef BALLAST_CORE_DEMAND_H
#define BALLAST_CORE_DEMAND_H

#include <ballast/arena.h>
#include <ballast/inventory.h>
#include <ballast/snapshot.h>

/* CPU: used + run / (run + sleep) × ready, in MHz. Ready time is weighed by how much of the time it wanted to
 * run at all, and turned into MHz by the speed of a core. UNKNOWN if the sample does not tell what was used;
 * where run and sleep are not known the whole ready time counts. Ready time never makes it more than all of
 * its vCPUs can use: a core that runs above its nominal speed may use a core's MHz in part of the time. But
 * what was used, or ready time that is longer than the interval, is passed on as it is: it cannot be right,
 * and the guard of the pass says so. */
double demand_cpu_mhz(const struct vm_sample *s, uint32_t vcpus);

/* Memory: working set + idle_percent of what is consumed but idle + overhead, in MiB. The working set is what
 * the hypervisor saw being touched, else what the guest says it uses, else what is consumed. UNKNOWN if none
 * is known. */
double demand_mem_mb(const struct vm_sample *s, double idle_percent);

/* The demand of every VM for the pass, by index: what the snapshot says, but no more than it could use,
 * within reservation and limit; 0 for those that take no part. */
void demand_estimate(const struct snapshot *snap, enum resource r, double *ret_demand);

/* Adds the VMs that wait to be placed: what each is said to want. */
void demand_add_waiting(const struct snapshot *snap, enum resource r, double *demand);

#endif
