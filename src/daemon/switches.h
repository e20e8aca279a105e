/* switches.h: what `power:` comes to in the service: the actuator that puts the hosts' own methods around the
 * source's, and what the engine is to know of them. */
#ifndef BALLAST_DAEMON_SWITCHES_H
#define BALLAST_DAEMON_SWITCHES_H

#include "actuators/power/power.h"
#include "config/config.h"
#include "engine/engine.h"

struct switches {
    struct power_setup setup;
    struct actuator_ops ops; /* only if there are hosts */
    struct host_way *ways;   /* one for each host of the setup; points into the configuration */
    bool compared;           /* with an inventory */
};

/* Builds it for the hosts of the configuration around the source's own actuator (NULL: none), and checks them
 * as their methods do. Everything is in the arena; *stop ends calls early. *ret must not move afterwards. */
int switches_init(const struct config *c, const struct actuator_ops *inner, const atomic_bool *stop,
                  struct arena *a, struct switches *ret, struct err *err);

/* With the first inventory (NULL: not yet): says in the log which of the configuration's hosts are not, or
 * not clearly, hosts of the cluster. One that is misspelt is not switched, and nothing else would say so. */
void switches_compare(struct switches *w, const struct snapshot *s);

/* The entry of that host of the cluster, or NULL: by its id, else by its name where it is the only one. */
const struct power_host *switches_find(const struct switches *w, const struct snapshot *s, const char *id);

/* What the host is called, where no other one has that name; NULL else. */
const char *switches_name(const struct snapshot *s, const char *id);

#endif
