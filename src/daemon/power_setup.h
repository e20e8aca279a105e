/* power_setup.h: what `power:` comes to in the service: the actuator that puts the hosts' own methods around
 * the source's, and what the engine is to know of them. */
#ifndef BALLAST_DAEMON_POWER_SETUP_H
#define BALLAST_DAEMON_POWER_SETUP_H

#include <ballast/arena.h>

#include "actuators/power/power.h"
#include "config/config.h"
#include "daemon/actuator_workers.h"
#include "engine/engine.h"

/* What an entry of the configuration is to the cluster: of no host that is there, of several, or of one that
 * has another entry. */
enum entry_use { ENTRY_NOT_COMPARED, ENTRY_USED, ENTRY_UNKNOWN, ENTRY_NOT_CLEAR, ENTRY_TWICE };

/* Does not change once it is made; a reload makes another one. Threads may still use an earlier one, so that
 * all live until the end. */
struct power_setup {
    struct arena arena; /* holds all of it */
    struct power_config config;
    struct actuator_ops own;              /* only if there are hosts */
    const struct actuator_ops *actuators; /* own, or the source's; NULL: there are none */
    struct source_config source;          /* for these */
    struct host_way *ways;                /* one for each host of the configuration */
    enum entry_use *uses;                 /* the same: as it was last said */
    struct power_setup *before;           /* the earlier one */
};

/* Builds it for the hosts of the configuration, of which nothing is borrowed, around the source's own
 * actuator (NULL: none), and checks them as their methods do. source lives as long, and its `stop` ends calls
 * early. before: the earlier one, or NULL; it is released with the new one. */
int power_setup_new(const struct config *c, const struct actuator_ops *inner,
                    const struct source_config *source, struct power_setup *before, struct power_setup **ret,
                    struct err *err);
void power_setup_free(struct power_setup *w); /* NULL is fine */

/* Whether power_setup_new() takes this configuration: the methods look closer than its reader does. */
int power_setup_check(const struct config *c, struct err *err);

/* After a reload: makes another one of *w for this configuration, and has the actuators use it. -EBUSY: hosts
 * are being switched just now, by the names of tasks that would not mean the same any more. *w is left as it
 * is on failure. */
int power_setup_change(struct power_setup **w, const struct config *c, const struct engine *e,
                       struct actuators *h, struct err *err);

/* With each inventory (NULL: none yet): says in the log which of the configuration's hosts are not, or not
 * clearly, hosts of the cluster, when that changes. One that is misspelt is not switched, and nothing else
 * would say so; and one that gets a namesake while it sleeps could not be woken any more. */
void power_setup_compare(struct power_setup *w, const struct snapshot *s);

/* The entry of that host of the cluster, or NULL: by its id, else by its name where it is the only one. */
const struct power_host *power_setup_find(const struct power_setup *w, const struct snapshot *s,
                                          const char *id);

/* What the host is called, where no other one has that name; NULL else. */
const char *power_setup_name(const struct snapshot *s, const char *id);

#endif
