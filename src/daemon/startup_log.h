/* startup_log.h: what is said in the log when the service begins, has read its configuration anew, and ends.
 */
#ifndef BALLAST_DAEMON_STARTUP_LOG_H
#define BALLAST_DAEMON_STARTUP_LOG_H

#include "actuators/power/power.h"
#include "config/config.h"
#include "engine/engine.h"

/* What it is, and where it is asked. */
void startup_log_settings(const struct config *c);

/* In which time zone the schedule of power management is; nothing where there is none. */
void startup_log_schedule(const struct config *c);

/* A warning where hosts sleep that were put to standby while dpm.enabled was true, and it is not any more. */
void startup_log_standby_hosts(const struct config *c, const struct engine *e);

/* What is odd about it, and the schedule. */
void startup_log_warnings(const struct config *c, const struct power_config *power);

/* What a reload has changed, and when that takes effect. power_waits: `power:` not now, because hosts are
 * being switched. */
void startup_log_reload(const struct config_change *changes, size_t n, bool power_waits);

/* Actions that are under way while the service ends. */
void startup_log_unfinished(const struct engine *e);

#endif
