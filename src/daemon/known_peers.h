/* known_peers.h: whether the source is still the one that it was, and whether another service on this machine
 * works on it under another address. What is known outlives a restart, in the store. */
#ifndef BALLAST_DAEMON_KNOWN_PEERS_H
#define BALLAST_DAEMON_KNOWN_PEERS_H

#include "base/peer_identities.h"
#include "engine/engine.h"

#define KNOWN_PEERS_NAME_MAX 256

struct known_peers {
    struct peer_identities *identities; /* for struct source_config */
    struct store *store;
    const char *source_name;           /* what is known is of this source, and of no other */
    int lock_fd;                       /* holds the cluster's name on this machine for this process; -1 */
    char locked[KNOWN_PEERS_NAME_MAX]; /* that name */
};

/* store and source_name are borrowed. */
int known_peers_open(struct known_peers *k, struct store *store, const char *source_name, struct err *err);
void known_peers_close(struct known_peers *k);

/* After an inventory: stores what is new. Where another process works on the same cluster, this one
 * approves nothing by itself, with a fault, until that process has ended. */
void known_peers_update(struct known_peers *k, struct engine *e, instant_s now);

/* A person says that the source is the right one, though it was refused. -EINVAL: it was not. */
int known_peers_confirm(struct known_peers *k, struct engine *e, const char *by, instant_s now,
                        struct err *err);

#endif
