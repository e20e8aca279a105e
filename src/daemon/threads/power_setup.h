/* power_setup.h: the `power:` configuration in the running service: the actuator that adds the hosts' own
 * power methods to the source's actuator, and the engine's view of those hosts. */
#ifndef BALLAST_DAEMON_THREADS_POWER_SETUP_H
#define BALLAST_DAEMON_THREADS_POWER_SETUP_H

#include <ballast/arena.h>

#include "actuators/power/power.h"
#include "config/config.h"
#include "config/power_entries.h"
#include "daemon/threads/actuator_workers.h"
#include "engine/engine.h"

/* Constant once made; a reload makes another one. Threads may still use an earlier one, so all live until the
 * end. */
struct power_setup {
    struct arena arena; /* holds all of the struct */
    struct power_config config;
    struct kept_methods *kept;            /* of the first setup, used by all; else NULL */
    struct actuator_ops own;              /* used only if n_hosts > 0 */
    const struct actuator_ops *actuators; /* `own`, or the source's actuator; NULL: none */
    struct source_config source;          /* the configuration for `actuators` */
    struct host_power_method *ways;       /* one for each configured host */
    enum entry_use *uses;                 /* by configured host: the use last logged */
    struct login_guards *logins;          /* of the controllers' accounts; that of the first setup */
    struct power_setup *before;           /* the setup before the reload */
};

/* Builds the setup for the configured hosts, which are copied, around the source's own actuator (NULL: none),
 * and lets each method check its host. source must outlive the setup; its `stop` ends calls early. before:
 * the earlier setup, or NULL; it is freed with the new one. */
int power_setup_new(const struct config *c, const struct actuator_ops *inner,
                    const struct source_config *source, struct power_setup *before, struct power_setup **ret,
                    struct err *err);
void power_setup_free(struct power_setup *w); /* NULL is fine */

/* Whether power_setup_new() accepts this configuration: the methods check more than the configuration's
 * reader. */
int power_setup_check(const struct config *c, struct err *err);

/* Replaces *w for a reloaded configuration, and lets the actuators use the new one. -EBUSY: power changes are
 * under way, whose task names would change their meaning. *w is unchanged on failure. */
int power_setup_change(struct power_setup **w, const struct config *c, const struct engine *e,
                       struct actuators *h, struct err *err);

/* Logs, whenever it changes, which configured hosts match no host of the cluster, or no single one. s: the
 * inventory; NULL before the first. No other message reports a misspelt host; and a host whose name appears
 * twice could not be woken. */
void power_setup_compare(struct power_setup *w, const struct snapshot *s);

/* The entry of that host of the cluster, by id, else by a unique name; NULL: none. */
const struct power_host *power_setup_find(const struct power_setup *w, const struct snapshot *s,
                                          const char *id);

/* The host's name if it is unique, else NULL. */
const char *power_setup_name(const struct snapshot *s, const char *id);

#endif
