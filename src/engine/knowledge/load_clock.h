/* load_clock.h: for how long each host's load has been beyond a level that a pipeline's balance names
 * (host_facts.over_s).
 *
 * Load is what the host's VMs and the host itself demand of its CPU, in whole percent, rounded up. The clock
 * runs while it is at or above `high` or at or below `low`, also where it goes from the one to the other. Of
 * several balances with levels the first pipeline's count. Nothing is stored: after a restart the clock
 * begins anew. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_LOAD_CLOCK_H
#define BALLAST_ENGINE_KNOWLEDGE_LOAD_CLOCK_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops load_clock_ops;

#endif
