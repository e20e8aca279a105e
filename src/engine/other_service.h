/* other_service.h: whether another service, on another machine, balances the same cluster.
 *
 * No hypervisor tells of one: nothing that the documented roles may write is seen by all services. It is
 * known by what it does. A sign of it is a VM that ran and was moved, and not by us,
 *   - as this service had approved by itself and not begun, between the same two hosts; or
 *   - back to the host that this service took it from, within the hour before.
 * A person may undo many moves at once: an inventory in which VMs were taken back is one sign.
 *
 * Two signs within an hour are another service, or the hypervisor's own balancing: from then on nothing but
 * wakes is approved without a person, over restarts too, with a fault, until `ballast confirm-setting
 * source`. A single sign is forgotten at a restart.
 *
 * No sign are moves off a host that is emptied, by us or by others, and moves to a host that came into
 * service within the hour before: high availability and admins bring its VMs back. */
#ifndef BALLAST_ENGINE_OTHER_SERVICE_H
#define BALLAST_ENGINE_OTHER_SERVICE_H

#include "engine/ports.h"

struct engine;

#define NOTE_OTHER_SERVICE "other_service"

/* After a restart: the note of the store; NULL: none. */
void other_service_recall(struct engine *e, const char *note);

/* Others have moved this VM since the last inventory, as a new one shows that is taken at `now`. */
void other_service_moved(struct engine *e, const struct migration_record *theirs, instant_s now);

/* Why nothing but wakes is approved without a person now: this, or engine_hold_back(). NULL: nothing stands
 * against it. */
const char *engine_held_back(const struct engine *e);

#endif
