/* states.h: the state of the cluster and of each host as JSON, for a broker to retain. src/mqtt/messages.md
 * has the fields. No field changes with time alone. */
#ifndef BALLAST_DAEMON_MQTT_STATES_H
#define BALLAST_DAEMON_MQTT_STATES_H

#include "base/strbuf.h"
#include "engine/engine.h"

/* Adds one line without a newline. */
void states_of_cluster(const struct engine *e, struct strbuf *out);

/* Calls `each`, with id, name and state, for every host of the newest inventory, and for hosts in standby
 * that are not in it. */
typedef void states_each(void *ctx, const char *host, const char *name, const char *json);

void states_of_hosts(const struct engine *e, states_each *each, void *ctx);

#endif
