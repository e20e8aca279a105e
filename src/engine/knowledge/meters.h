/* meters.h: asks what hosts draw, one question a minute and host (every ten seconds while the host is being
 * put to standby or woken), a few at a time, so that a controller that
 * hangs delays the others little: each failure in a row doubles the time until it is asked again. A host that
 * never had a reading is asked once an hour: a new firmware may have one. A host that has just come on is
 * asked at once.
 *
 * A reading of 0 W of a host that is on is none: firmware writes it when it does not know.
 *
 * A reading counts for a few minutes, and as long as the host is in the phase that it was read in: the
 * draw of a host that is on says nothing once it sleeps. The draw during a wake still counts after the wake
 * was given up. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_METERS_H
#define BALLAST_ENGINE_KNOWLEDGE_METERS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops meters_ops;

/* Asks as many as may be asked now. s: the newest snapshot, or NULL. */
void meters_ask(struct meters *all, const struct engine_ports *port, const struct snapshot *s, instant_s now);

/* The meter of a host that is on was read before, and has not been for a while; or it is read again. */
enum meter_change { METER_UNCHANGED, METER_LOST, METER_BACK };

enum meter_change meters_result(struct meters *all, const struct job *job, const struct job_result *result,
                                instant_s now);

#endif
