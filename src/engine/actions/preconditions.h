/* preconditions.h: where the newest inventory shows what an action is about, and whether it may begin. */
#ifndef BALLAST_ENGINE_ACTIONS_PRECONDITIONS_H
#define BALLAST_ENGINE_ACTIONS_PRECONDITIONS_H

#include "engine/internal.h"

#define WHY_MAX 768

enum whereabouts {
    AT_SOURCE, /* as before the action */
    AT_TARGET, /* as after it */
    ELSEWHERE, /* neither */
    GONE,      /* not in the inventory */
    NOT_SEEN,  /* its host is disconnected: nothing can be said */
};

/* By the newest inventory; there must be one. */
enum whereabouts whereabouts(const struct engine *e, const struct action *x);

/* Whether the newest inventory was asked for late enough to tell. */
bool inventory_tells(const struct engine *e, const struct action *x);

enum readiness {
    READY,
    WAIT,  /* for what it depends on, a slot, an inventory */
    NEVER, /* the world is no longer what it was planned for */
};

/* Of an approved action. NEVER: why, a sentence of at most WHY_MAX bytes, says what has changed. WAIT: what
 * for, where that is worth telling; else "". */
enum readiness readiness(const struct engine *e, const struct action *x, instant_s now, char *why);

/* Parts of it, for power_preconditions.c. */
enum readiness dependencies(const struct engine *e, const struct action *x, char *why);
/* A plan is made from one moment, and holds for a while only. */
bool plan_is_old(const struct engine *e, const struct action *x, instant_s now, char *why);
/* The last VM has left, agents apart, and none is on its way. */
bool host_is_empty(const struct engine *e, const char *host);
/* power_preconditions.c: of what changes the power of a host. */
enum readiness sleep_readiness(const struct engine *e, const struct action *x, instant_s now, char *why);
enum readiness wake_readiness(const struct engine *e, const struct action *x, instant_s now, char *why);

/* Nothing is begun while paused, on old data, or when its beginning could not be stored. */
bool may_begin_anything(const struct engine *e, instant_s now);

#endif
