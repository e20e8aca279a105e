/* numa.h: NUMA cells and devices of hosts and VMs (ballast/facts.h): what can be wrong with them, and their
 * order in a snapshot. */
#ifndef BALLAST_MODEL_NUMA_H
#define BALLAST_MODEL_NUMA_H

#include "model/inventory_check.h"
#include "schema/field.h"

/* struct numa_cell, vm_numa_cell, device_pool, device_request */
extern const struct schema numa_cell_schema, vm_numa_cell_schema, device_pool_schema, device_request_schema;

/* By themselves: figures, ids, names. */
int numa_check_host(const struct place *at, const struct host_facts *h);
int numa_check_vm(const struct place *at, const struct vm_facts *v);

/* Pages by size, properties by key; copies what it sorts. Refuses a size or a key that is given twice. */
int numa_sort_host(const struct place *at, struct host_facts *h, struct arena *a);
int numa_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a);

#endif
