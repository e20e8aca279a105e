/* meters.h: asks what hosts draw, one question a minute and host, a few at a time, so that a controller that
 * hangs delays the others little: each failure in a row doubles the time until it is asked again.
 *
 * A reading counts for a few minutes, and as long as the host is in the phase that it was read in: what it
 * drew while it was on says nothing once it sleeps. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_METERS_H
#define BALLAST_ENGINE_KNOWLEDGE_METERS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops meters_ops;

/* Asks as many as may be asked now. s: the newest snapshot, or NULL. */
void meters_ask(struct meters *all, const struct engine_ports *port, const struct snapshot *s, instant_s now);
void meters_result(struct meters *all, const struct job *job, const struct job_result *result, instant_s now);

#endif
