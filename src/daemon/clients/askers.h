/* askers.h: whether the person who asked for an action may still ask for it: the engine's port `people`.
 *
 * Asked when an action begins, and when a second person agrees. A request is kept by the name of who asked:
 *   "ops (token)"      also of a browser's session: a token of this name that was there then, and is
 *   "ann (uid 1000)"   the user of this machine, with the role that users and groups give now
 *   "mqtt"             while any command is taken from the broker
 * Each must have a role that may act. What the service does by itself is no person's. */
#ifndef BALLAST_DAEMON_CLIENTS_ASKERS_H
#define BALLAST_DAEMON_CLIENTS_ASKERS_H

#include "config/config.h"
#include "engine/ports.h"

struct askers {
    struct store *store;                /* has the tokens */
    const struct config *const *config; /* in force */
};

extern const struct people_ops askers_port; /* of a struct askers * */

#endif
