/* early_wake_penalty.h: power-offs that did not pay, because their hosts were woken for load too soon.
 *
 * Such a wake raises the quiet that the cluster must have had before the next power-off; the penalty halves
 * each day. README.md says when a power-off has not paid, and what becomes of the penalty. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_EARLY_WAKE_PENALTY_H
#define BALLAST_ENGINE_KNOWLEDGE_EARLY_WAKE_PENALTY_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops early_wake_penalty_ops;

#endif
