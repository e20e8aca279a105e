/* states.h: how the cluster and each host are, as JSON: what a broker retains. src/mqtt/README.md has the
 * fields. Nothing in it changes just because time passes. */
#ifndef BALLAST_DAEMON_STATES_H
#define BALLAST_DAEMON_STATES_H

#include "base/strbuf.h"
#include "engine/engine.h"

/* Both: one line, without an end. */
void states_of_cluster(const struct engine *e, struct strbuf *out);

/* Calls `each` for every host of the newest inventory, and for those that sleep and are not in it. */
void states_of_hosts(const struct engine *e, void (*each)(void *ctx, const char *host, const char *json),
                     void *ctx);

#endif
