/* preconditions.h: whether an approved action may begin. */
#ifndef BALLAST_ENGINE_ACTIONS_PRECONDITIONS_H
#define BALLAST_ENGINE_ACTIONS_PRECONDITIONS_H

#include "engine/ports.h"

struct action;
struct engine;

#define WHY_MAX 768

enum preconditions {
    READY,
    WAIT,  /* for a dependency, a slot, an inventory */
    NEVER, /* the cluster has changed since the plan */
};

/* Of an approved action. NEVER: why, a sentence of at most WHY_MAX bytes, says what has changed. WAIT: what
 * for, where that is worth telling; else "". */
enum preconditions preconditions(const struct engine *e, const struct action *x, instant_s now, char *why);

/* Parts of it, for power_preconditions.c. */
enum preconditions preconditions_dependencies(const struct engine *e, const struct action *x, char *why);
/* Optional moves are not carried out without a person now (balance.windows), by what the newest inventory was
 * given. */
bool preconditions_balance_waits(const struct engine *e, instant_s now);
/* A plan is made from one moment, and holds for a while only. */
bool preconditions_plan_is_old(const struct engine *e, const struct action *x, instant_s now, char *why);
/* The last VM has left, agents apart, and none is on its way. */
bool preconditions_host_is_empty(const struct engine *e, const char *host);

/* Nothing is begun while paused, on old data, or when its beginning could not be stored. */
bool preconditions_may_begin(const struct engine *e, instant_s now);

#endif
