/* standby_maintenance.h: the maintenance mode of a host that a standby begins (actuators/power/tell.c), and
 * that is ended when the host is to serve again.
 *
 * The mark of such a host, host_record.our_maintenance, is stored before the hypervisor is asked, and goes
 * when the host is seen in service. Maintenance mode of a host without the mark is a person's: it is never
 * ended here. */
#ifndef BALLAST_ENGINE_ACTIONS_STANDBY_MAINTENANCE_H
#define BALLAST_ENGINE_ACTIONS_STANDBY_MAINTENANCE_H

#include "engine/ports.h"

struct action;
struct engine;

/* A new inventory: says of a host in our maintenance mode that it enters standby or, once its standby is
 * over, that it is powering on: a pass sees it so. True: the latter (known_host.held). */
bool standby_maintenance_explain(struct engine *e, struct host_facts *f, instant_s now);
/* After a new inventory: begins to end the maintenance mode of each host that is to serve again. */
void standby_maintenance_end(struct engine *e, instant_s now);
/* Whether the host has the mark, and the store has it, too. */
bool standby_maintenance_is_stored(const struct engine *e, const char *host);
/* What the task of a standby reports of it. */
void standby_maintenance_note(struct engine *e, struct action *x, const struct task_progress *p,
                              instant_s now);

#endif
