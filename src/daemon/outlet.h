/* outlet.h: what the engine says, as lines of the log. */
#ifndef BALLAST_DAEMON_OUTLET_H
#define BALLAST_DAEMON_OUTLET_H

#include "engine/ports.h"

void log_event(const struct event *ev);

/* How much it matters: info, notice, warning or error. Each is logged with that priority. */
const char *event_severity(const struct event *ev);

#endif
