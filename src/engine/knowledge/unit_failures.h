/* unit_failures.h: which external units give no answer, since when and why; over restarts.
 *
 * A unit fails as long as it has no answer about some VM that it is asked about: it hangs, has ended, writes
 * nonsense, or says so itself. Its first failure and its end are one event each (unit_failed, unit_back),
 * also when no stage asks the unit any more. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_UNIT_FAILURES_H
#define BALLAST_ENGINE_KNOWLEDGE_UNIT_FAILURES_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops unit_failures_ops;

/* What the units said about a snapshot; NULL: none was asked. */
void unit_failures_take(struct unit_failures *f, struct engine *e, const struct inventory *answers,
                        instant_s now);

/* Those that fail, by name; valid until the next call of unit_failures_take(). */
size_t unit_failures_list(const struct unit_failures *f, const struct failing_unit **ret);

#endif
