/* compatibility.h: what hosts offer and what VMs need of their host, by name: networks, datastores, devices,
 * CPU baselines. Used by snapshot_build.c. */
#ifndef BALLAST_MODEL_COMPATIBILITY_H
#define BALLAST_MODEL_COMPATIBILITY_H

#include "model/inventory_check.h"

/* Sorts the names; refuses one that is listed twice. */
int compatibility_sort_host(const struct place *at, struct host_facts *h, struct arena *a);
int compatibility_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a);

#endif
