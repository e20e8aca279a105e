/* obstacle.h: whether a host can be emptied for its maintenance or standby, by a pass on a what-if snapshot.
 */
#ifndef BALLAST_ENGINE_OBSTACLE_H
#define BALLAST_ENGINE_OBSTACLE_H

#include "engine/engine.h"

/* What stands against it, in the arena; NULL: every VM has room elsewhere, no failover capacity goes missing
 * and no host becomes overloaded. By the newest inventory. kind: CHANGE_MAINTENANCE or CHANGE_HOST_OFF.
 * ret_now, ret_then: the plans as the cluster is and with the change, in the arena; either may be NULL, and
 * both are empty where a pass failed. */
const char *obstacle_find(const struct engine *e, enum change_kind kind, const char *host, struct arena *a,
                          struct plan *ret_now, struct plan *ret_then);

/* The failover capacity that the change takes, a sentence in the arena; NULL: none. Of the plans of
 * obstacle_find(). */
const char *obstacle_capacity_given_up(const struct plan *now, const struct plan *then, struct arena *a);

#endif
