/* say.h: what is said in the log when the service begins, has read its configuration anew, and ends. */
#ifndef BALLAST_DAEMON_SAY_H
#define BALLAST_DAEMON_SAY_H

#include "config/config.h"
#include "engine/engine.h"

/* In which time zone the schedule of power management is; nothing where there is none. */
void say_schedule(const struct config *c);

/* A warning where hosts sleep that were put to standby while dpm.enabled was true, and it is not any more. */
void say_sleepers(const struct config *c, const struct engine *e);

/* What is odd about it, and the schedule. deeds: of the source's own hands; n_ways: hosts that can be
 * switched from outside. */
void say_warnings(const struct config *c, unsigned deeds, size_t n_ways);

/* What a reload has changed. */
void say_changes(const struct config_change *changes, size_t n);

/* Actions that are under way while the service ends. */
void say_left(const struct engine *e);

#endif
