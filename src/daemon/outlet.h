/* outlet.h: what the engine says, as lines of the log. */
#ifndef BALLAST_DAEMON_OUTLET_H
#define BALLAST_DAEMON_OUTLET_H

#include "engine/ports.h"

/* Has no object of its own: the port's is not used. */
extern const struct outlet_ops log_outlet;

#endif
