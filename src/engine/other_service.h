/* other_service.h: whether another service, on another machine, balances the same cluster.
 *
 * No hypervisor tells of one: nothing that the documented roles may write is seen by all services. It is
 * known by what it does. Between two inventories a VM was moved, and not by us:
 *   - as this service had approved by itself and not done, between the same two hosts; or
 *   - back to the host that this service took it from, within the hour before.
 * Once may be a person. With the second time within an hour it is another service, or the hypervisor's own
 * balancing: from then on nothing but wakes is approved without a person, over restarts too, with a fault,
 * until `ballast confirm-setting source`. Moves off a host that is emptied do not count: others may empty it
 * too, and bring the VMs back. */
#ifndef BALLAST_ENGINE_OTHER_SERVICE_H
#define BALLAST_ENGINE_OTHER_SERVICE_H

#include "engine/ports.h"

struct engine;

#define NOTE_OTHER_SERVICE "other_service"

/* After a restart: the note of the store; NULL: none. */
void other_service_recall(struct engine *e, const char *note);

/* Others have moved this VM, as the newest inventory shows; its hosts are on. */
void other_service_moved(struct engine *e, const struct migration_record *theirs, instant_s now);

/* Why nothing but wakes is approved without a person now: this, or engine_hold_back(). NULL: nothing stands
 * against it. */
const char *engine_held_back(const struct engine *e);

#endif
