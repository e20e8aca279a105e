/* host_events.h: events of hosts that changed from one inventory to the next. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_HOST_EVENTS_H
#define BALLAST_ENGINE_KNOWLEDGE_HOST_EVENTS_H

#include "engine/knowledge/hosts.h"

/* Each change of a host's state, by Ballast or not. The first look at a host is no change, unless an earlier
 * process saw it asleep and it is not, or the other way round. */
void host_events_change(struct engine *e, const struct snapshot *s, const struct host_facts *f,
                        const struct known_host *k);
/* Hosts that the inventory before this one had. Two inventories are compared, so that neither a start nor a
 * source that cannot be read for a while says anything of hosts. */
void host_events_lost(struct engine *e, const struct hosts *h, const struct snapshot *before,
                      const struct snapshot *s);
/* One that the inventory before this one did not have: known from earlier, or new. */
void host_events_arrival(struct engine *e, const struct snapshot *before, const struct snapshot *s,
                         const struct host_facts *f, const struct known_host *k);

#endif
