/* subscribers.h: passes the engine's events to the journal, which stores them, then to the consoles of waking
 * hosts, and to the metrics, which count them. */
#ifndef BALLAST_DAEMON_EVENTS_SUBSCRIBERS_H
#define BALLAST_DAEMON_EVENTS_SUBSCRIBERS_H

#include "daemon/replies/metrics.h"
#include "daemon/threads/consoles.h"
#include "engine/ports.h"

struct subscribers {
    struct event_sink *journal;
    struct consoles *consoles;
    struct service_metrics *metrics;
};

/* The event sink is a struct subscribers, which must not move. */
extern const struct event_sink_ops subscribers_sink;

#endif
