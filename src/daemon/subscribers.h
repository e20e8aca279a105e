/* subscribers.h: who hears what the engine says: the journal first, which keeps it, then the consoles of
 * hosts that wake. */
#ifndef BALLAST_DAEMON_SUBSCRIBERS_H
#define BALLAST_DAEMON_SUBSCRIBERS_H

#include "daemon/consoles.h"
#include "engine/ports.h"

struct subscribers {
    struct event_sink *journal;
    struct consoles *consoles;
};

/* The event sink is a struct subscribers, which must stay where it is. */
extern const struct event_sink_ops subscribers_sink;

#endif
