/* external_units.h: what external units say of VMs: asked for with each inventory, and before a VM is moved
 * or powered on. */
#ifndef BALLAST_ENGINE_EXTERNAL_UNITS_H
#define BALLAST_ENGINE_EXTERNAL_UNITS_H

#include "engine/actions/preconditions.h"
#include "engine/observation.h"

/* Asks, where stages of the snapshot want it. True: the observation waits for engine_on_answers(). */
bool external_units_ask(struct engine *e, struct observation *v, instant_s now);

/* Whether the units let an action begin that is ready otherwise. They are asked again after its approval,
 * with an inventory. NEVER: a unit refuses the host. WAIT: none has answered yet, or one that must has
 * failed. */
enum preconditions external_units_check(struct engine *e, const struct action *x, instant_s now, char *why);

/* engine.c: the newest inventory, with its answers: actions go on, and what is due is decided. */
void engine_take_observation(struct engine *e, struct observation *v, instant_s now);

#endif
