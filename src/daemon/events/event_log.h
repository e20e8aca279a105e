/* event_log.h: writes the engine's events to the log. */
#ifndef BALLAST_DAEMON_EVENTS_EVENT_LOG_H
#define BALLAST_DAEMON_EVENTS_EVENT_LOG_H

#include "engine/ports.h"

void event_log_write(const struct event *ev);

/* The event's severity: info, notice, warning or error; also the priority of its log line. */
const char *event_log_severity(const struct event *ev);

#endif
