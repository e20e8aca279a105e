/* compatibility.h: what hosts offer and what VMs need of their host, by name: networks, datastores, devices,
 * CPU vendor and baseline. A host that does not report an offer is taken to have all of that kind. */
#ifndef BALLAST_MODEL_COMPATIBILITY_H
#define BALLAST_MODEL_COMPATIBILITY_H

#include "model/inventory_check.h"

#include <ballast/snapshot.h>

/* Sorts the names and attributes; refuses one that is listed twice. */
int compatibility_sort_host(const struct place *at, struct host_facts *h, struct arena *a);
int compatibility_sort_vm(const struct place *at, struct vm_facts *v, struct arena *a);

/* Sets vm.offered of all VMs: one bitmap for all VMs with equal needs. Each name that a VM needs is looked up
 * once per host that offers it: O(names offered + names needed), not VMs x hosts. */
void compatibility_compile(struct snapshot *s, struct arena *a);

/* A name that a VM needs and its host does not offer. */
struct missing {
    enum offer_kind kind;
    const char *name;
};

/* The missing names, in the order of OFFER_KINDS, then by name. Returns their number; fills the first `most`.
 */
uint32_t compatibility_missing(const struct vm_facts *v, const struct host_facts *h, struct missing *ret,
                               uint32_t most);

#endif
