/* vm_stops.h: VMs that ran, and went down with a host that we put to standby.
 *
 * No host is put to standby unless it was seen to be empty, but a VM may come to it between the last look and
 * the end. Such a VM ran when it was last seen, whichever host that was, and is off or gone with the host;
 * one that was seen to be off while its host was up had stopped before. It is a fault until the VM runs
 * again. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_VM_STOPS_H
#define BALLAST_ENGINE_KNOWLEDGE_VM_STOPS_H

#include "engine/knowledge/knowledge.h"

struct vm_stops;

extern const struct knowledge_ops vm_stops_ops;

/* The host is down by our doing, as the snapshot shows: which VMs went down with it, that were seen to run
 * since then? Their names, in the arena, for a sentence; NULL: none, but those that are known. */
const char *vm_stops_find(struct vm_stops *all, const struct snapshot *s, const char *host, instant_s since,
                          struct arena *a, uint32_t *ret_n);

/* No VM runs on a host that sleeps because we put it down (is_ours), nor one that is known to have gone down
 * with its host on one that is lost, whatever the source still says of it: such a VM counts as off. */
void vm_stops_settle(const struct vm_stops *all, struct inventory *inv,
                     bool (*is_ours)(const struct engine *e, const char *host), const struct engine *e);

#endif
