/* host_losses.h: which hosts died lately with their VMs, and until when they are distrusted.
 *
 * A host that is not reachable any more was lost when more than half of the VMs that ran there have stopped:
 * they are off, or run elsewhere. It was not if another host went within two minutes or two looks: that is
 * the network, and a manager that lost sight of a host leaves its VMs running. From the second loss within a
 * day on the host is distrusted until it has been up for an hour, twice as long after each further loss, a
 * week at most. A day of trust without a loss, or a person, ends the count. Losses are entries of what is not
 * tried again (avoid_entries.h), and stand in the snapshot (struct host_losses). */
#ifndef BALLAST_ENGINE_KNOWLEDGE_HOST_LOSSES_H
#define BALLAST_ENGINE_KNOWLEDGE_HOST_LOSSES_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops host_losses_ops;

/* Whether the record is of a host's losses. */
bool host_losses_are(const struct failure_record *r);

/* Whether the host's losses still count: none follows so long after them that it would be the first. */
bool host_losses_count(const struct failure_record *r, instant_s now);

/* A person trusts the host again. False: no loss of it counted. */
bool host_losses_forgive(struct failed_moves *f, const char *host, instant_s now);

#endif
