/* restart.h: decides by exhaustive search whether the VMs of a lost host could restart on the others
 * (§3.3.2), in the state of an oracle. */
#ifndef BALLAST_TESTS_RESTART_H
#define BALLAST_TESTS_RESTART_H

#include "oracle.h"

/* Whose policy must hold: the source's, the configuration's, or what is kept for both (snapshot.promise). */
enum restart_view { RESTART_OF_SOURCE, RESTART_OF_CONFIGURATION, RESTART_OF_BOTH, RESTART_VIEWS };

struct restart {
    struct oracle *o;
    struct arena *a;
    struct failover_promise promise; /* of the view */
    bool *counted_on;   /* by host: lost with any other (host_failures N: the N - 1 with most reserved) */
    bool *lost;         /* scratch: by host */
    uint32_t *stands;   /* by VM: the host where a spare VM is said to be and fits; IX_NONE */
    unsigned *unjudged; /* searches that took too long */
};

/* What the search found: whether there is a way, or that it took too long. */
enum found { NO, YES, UNJUDGED };

/* In the state that the oracle is in now. */
void restart_init(struct restart *w, struct oracle *o, enum restart_view view, unsigned *unjudged,
                  struct arena *a);

/* Whether each VM is restarted by itself: the policy is a share. */
bool restart_is_single(const struct restart *w);

/* Which hosts are lost with any other, as things are now. */
void restart_count_on(struct restart *w);

/* Whether the policy keeps anything for the VM: the others are not promised a restart. */
bool restart_minds(const struct restart *w, uint32_t vm);

/* Whether everything that the loss of this host makes homeless has a place; only: this VM alone (IX_NONE:
 * all, one by one where the policy is a share). strict: as it is judged before a fault is said. */
enum found restart_is_possible(struct restart *w, uint32_t host, uint32_t only, bool strict);

/* The first host whose loss would leave somebody homeless; n_hosts: the spare VMs themselves; IX_NONE: none.
 */
uint32_t restart_first_without(struct restart *w, bool strict);

const char *restart_what_is_lost(const struct restart *w, uint32_t host);

#endif
