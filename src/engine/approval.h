/* approval.h: whether a recommendation, or what an admin asks for, may be approved. engine_approve() and
 * engine_reject() are in engine.h. */
#ifndef BALLAST_ENGINE_APPROVAL_H
#define BALLAST_ENGINE_APPROVAL_H

#include "engine/ports.h"

struct engine;

/* Whether the actuators can do that at all. -ENOTSUP with a sentence: no. */
int approval_check_operation(const struct engine *e, const struct action_record *r, struct err *err);

#endif
