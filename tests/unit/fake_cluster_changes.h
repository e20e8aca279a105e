/* fake_cluster_changes.h: what a test changes in a fake cluster, and sees of it, past the plug-in. -ENOENT
 * where there is no such VM. */
#ifndef BALLAST_TESTS_UNIT_FAKE_CLUSTER_CHANGES_H
#define BALLAST_TESTS_UNIT_FAKE_CLUSTER_CHANGES_H

#include "sim/fake_cluster/fake_cluster.h"

enum fake_cluster_fault {
    FAKE_CLUSTER_OBEYS,   /* as it should */
    FAKE_CLUSTER_REFUSES, /* check() and start() say no */
    FAKE_CLUSTER_FAILS,   /* it fails half way */
    FAKE_CLUSTER_HANGS,   /* it stays at half way until it is cancelled */
};

/* The fault of this VM's later migrations and starts. */
int fake_cluster_set_fault(struct fake_cluster *p, const char *vm, enum fake_cluster_fault fault);

/* The cluster does not answer: collect() and all calls of the actuator fail with -ECONNREFUSED. Tasks go
 * on. */
void fake_cluster_set_deaf(struct fake_cluster *p, bool deaf);

/* Whether the host refuses settings of pools from now on. -ENOENT: there is no such host. */
int fake_cluster_refuse_settings(struct fake_cluster *p, const char *host, bool refuses);

/* Number of applied settings of pools so far. */
unsigned fake_cluster_settings_applied(struct fake_cluster *p);

/* Sets the VM's level of demand; of memory, what a collector sees as demand, including the hypervisor's
 * own.
 */
int fake_cluster_set_demand(struct fake_cluster *p, const char *vm, double cpu_mhz, double mem_mb);

/* Removes the VM. */
int fake_cluster_remove_vm(struct fake_cluster *p, const char *vm);

/* The id of the VM's host, valid as long as p; NULL if it does not run or does not exist. */
const char *fake_cluster_where(struct fake_cluster *p, const char *vm);

/* Number of migrations and starts of VMs so far, so that a test can see that none was begun twice. */
unsigned fake_cluster_migrations_begun(struct fake_cluster *p);

#endif
