/* startup_log.h: the log lines at a start, after a reload, and before the service ends. */
#ifndef BALLAST_DAEMON_STARTUP_LOG_H
#define BALLAST_DAEMON_STARTUP_LOG_H

#include "actuators/power/power.h"
#include "config/config.h"
#include "engine/engine.h"

/* Version, cluster, source, automation, interval, socket. */
void startup_log_settings(const struct config *c);

/* Says which setting waits for a confirmation, and what it would allow. */
void startup_log_unconfirmed(const struct engine *e);

/* Warns when dpm.enabled is false and hosts still sleep that Ballast put to standby. */
void startup_log_standby_hosts(const struct config *c, const struct engine *e);

/* The configuration's warnings, and the schedule. */
void startup_log_warnings(const struct config *c, const struct power_config *power);

/* The changes of a reload, each as an event of the engine, and when it takes effect. power_waits: changes
 * below `power:` wait, because a power change is under way. by: who asked for the reload. */
void startup_log_reload(const struct config_change *changes, size_t n, bool power_waits, struct engine *e,
                        const char *by, instant_s now);

/* Actions that still run at the hypervisor. */
void startup_log_unfinished(const struct engine *e);

#endif
