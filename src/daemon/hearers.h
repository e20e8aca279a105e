/* hearers.h: who hears what the engine says: the journal first, which keeps it, then the consoles of hosts
 * that wake. */
#ifndef BALLAST_DAEMON_HEARERS_H
#define BALLAST_DAEMON_HEARERS_H

#include "daemon/consoles.h"
#include "engine/ports.h"

struct hearers {
    struct outlet *journal;
    struct consoles *consoles;
};

/* The outlet is a struct hearers, which must stay where it is. */
extern const struct outlet_ops hearers_outlet;

#endif
