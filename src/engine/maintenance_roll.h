/* maintenance_roll.h: host after host is emptied, handed over for service, checked and refilled.
 *
 * A host is begun if fewer than at_once are out, and a pass on a what-if snapshot shows that its VMs have
 * room elsewhere: none stays behind, no failover capacity goes missing, no other host is overloaded. A host
 * is handed over when it is in maintenance. After its service a person ends the maintenance
 * (engine_maintenance(), or at the hypervisor's manager). It counts as back when it is on and two more passes
 * have been made, so that VMs have come back as far as the automation level lets them.
 *
 * The roll stops at the first failure: no further host is begun, and hosts stay as they are. It is stored,
 * and goes on after a restart. Each step is taken on an inventory. */
#ifndef BALLAST_ENGINE_MAINTENANCE_ROLL_H
#define BALLAST_ENGINE_MAINTENANCE_ROLL_H

#include "engine/engine.h"

struct maintenance_roll *maintenance_roll_new(void);
void maintenance_roll_free(struct maintenance_roll *r);

/* With each new inventory. */
void maintenance_roll_step(struct engine *e, instant_s now);

/* As text for the store, in the arena; NULL: nothing is to be stored. */
const char *maintenance_roll_text(const struct engine *e, struct arena *a);
void maintenance_roll_recall(struct engine *e, const char *text);

#endif
