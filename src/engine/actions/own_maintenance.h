/* own_maintenance.h: maintenance of hosts whose hypervisor has no maintenance mode (libvirt).
 *
 * The engine evacuates the host by its own migrations, as for a mode of the hypervisor. When the host is
 * empty, the mark host_record.maintenance is stored, and the host is in maintenance mode for passes, commands
 * and the inventory until a person ends it: also after a restart, and when the host was off meanwhile. A
 * VM that a person starts there is evacuated again: the host is then entering maintenance. */
#ifndef BALLAST_ENGINE_ACTIONS_OWN_MAINTENANCE_H
#define BALLAST_ENGINE_ACTIONS_OWN_MAINTENANCE_H

#include "engine/ports.h"

struct action;
struct engine;

/* Whether the engine keeps the mode itself: VMs can be migrated, and the source has no operation for it. */
bool own_maintenance_is_used(const struct engine *e);

/* Whether hosts can be asked into maintenance and out of it, by the hypervisor's mode or by ours. */
bool own_maintenance_or_source_can(const struct engine *e, unsigned operations);

/* Whether the host has the mark. */
bool own_maintenance_is_marked(const struct engine *e, const char *host);

/* Carries out ACTION_ENTER_MAINTENANCE of a host that is empty, or ACTION_EXIT_MAINTENANCE: sets or ends the
 * mark, which the caller stores with the action. */
void own_maintenance_apply(struct engine *e, const struct action *x, instant_s now);

/* A new inventory: a marked host that runs is in maintenance, or entering it where VMs run on it. */
void own_maintenance_fill(const struct engine *e, struct inventory *inv);

#endif
