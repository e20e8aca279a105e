/* left_hosts.h: a host that sleeps and that its source does not list any more, or lists without its size.
 *
 * Some managers drop a host that does not answer, and admins take hosts out of a cluster while they sleep.
 * Such a host stays in the inventory as it was last known, in standby and marked (host_facts.left_inventory),
 * so that its name, the configuration's entries and DPM find it, and it can be woken. The wake is done when
 * the source lists the host again.
 *
 * Others list a host that they have never read, as libvirt does where the service was started while the host
 * slept. Its facts are those from before its sleep. VMs that are off elsewhere might run on a host that was
 * never read, so they are left out, unless each of these hosts was put to standby by us. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_LEFT_HOSTS_H
#define BALLAST_ENGINE_KNOWLEDGE_LEFT_HOSTS_H

#include "base/idmap.h"
#include "engine/knowledge/hosts.h"

/* known: host id -> struct known_host. Both return whether one of them has changed, which is then dirty. */

/* Adds to the inventory the sleeping hosts that it does not list, and the facts of those that the source
 * lists as disconnected and has never read. Not one on which a VM runs; nor one in whose place the source
 * lists another entry, of the same name or hardware UUID: that one's sleep is over. */
bool left_hosts_add(const struct idmap *known, struct inventory *inv, struct arena *a);

/* Keeps what is known of each host that sleeps or is on its way there, until it is on again, and is not to
 * go down. before: NULL: nothing. */
bool left_hosts_keep(const struct idmap *known, const struct snapshot *before, const struct snapshot *s);

/* Fills in what follows from a record that was read back. */
void left_hosts_recall(struct known_host *k);

#endif
