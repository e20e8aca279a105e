/* unit_failures.h: which external units give no answer, since when and why; over restarts.
 *
 * A unit fails as long as it gives no answer about some VM that it is asked about: it hangs, has ended,
 * writes invalid output, or reports an error. There is one event when it begins to fail (unit_failed) and one
 * when it answers again or no stage asks it any more (unit_back). */
#ifndef BALLAST_ENGINE_KNOWLEDGE_UNIT_FAILURES_H
#define BALLAST_ENGINE_KNOWLEDGE_UNIT_FAILURES_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops unit_failures_ops;

/* Takes the answers of the units about a snapshot; NULL: no unit was asked. */
void unit_failures_take(struct unit_failures *f, struct engine *e, const struct inventory *answers,
                        instant_s now);

/* The failing units, by name; valid until the next call of unit_failures_take(). */
size_t unit_failures_list(const struct unit_failures *f, const struct failing_unit **ret);

#endif
