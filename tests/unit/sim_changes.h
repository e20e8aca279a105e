/* sim_changes.h: changes of a simulated cluster that only a test makes. They take effect at once, at the time
 * of the last cluster_advance(). VMs and hosts by index. */
#ifndef BALLAST_TESTS_UNIT_SIM_CHANGES_H
#define BALLAST_TESTS_UNIT_SIM_CHANGES_H

#include "sim/cluster/cluster.h"

/* Removes the VM for good, as if it left: its running operations fail. */
void sim_remove_vm(struct cluster *c, uint32_t vm);

/* The fault of every later migration and start of the VM: SIM_MIGRATION_REFUSED, SIM_MIGRATION_FAILS or
 * SIM_MIGRATION_HANGS; sim_fault_count: the scenario's faults again. */
void sim_set_fault(struct cluster *c, uint32_t vm, enum sim_fault fault);

/* Whether the host refuses settings of pools from now on (-EPERM). */
void sim_refuse_settings(struct cluster *c, uint32_t host, bool refuses);

/* Number of migrations and starts of VMs that have begun; an adopted one counts once. */
uint32_t sim_vm_operations(const struct cluster *c);

#endif
