/* pool_parts.h: the pool tree, broken up into one for each host (§3.1.7).
 *
 * On the hosts local schedulers divide what there is, each by a pool tree of its own. A pool has a part on
 * every host where VMs of it, or of a pool below it, run: of its reservation and limit in accordance with
 * what its VMs there were divvied, of its shares as many as its VMs there hold. So that the hosts' trees
 * together do what the one tree says, as if the cluster were one large host. A VM that is migrated, or is
 * about to be, counts on both hosts. The settings of the VMs themselves travel with them and are not parts.
 *
 * Invariants, checked by tests/property/pool_parts.c; where VMs in flight are counted twice, or do not fit on
 * their host, it says so:
 *   reservation  over all hosts the parts add up to what the pool's VMs were divvied of it
 *                (divvy_build_reserved(): the pool's own reservation, unless that is more than its VMs may
 * use or the cluster has; a pool below another one has its part of what that one hands down), to within one
 * unit. VMs in flight add theirs a second time. On each host a part is at least what the pools below and the
 * VMs directly in the pool reserve there. The parts of the pools below the root, and the VMs there, reserve
 * together at most the host's capacity, if what the VMs themselves reserve fits. limit        none where the
 * pool has none, whatever the pools above have: theirs hold on the host as well. Else the parts add up to the
 * pool's limit, rounded (or to its reservations, where VMs in flight make them more), and each is at least
 * the reservation. No host is given less than its VMs demand unless the pool as a whole demands more than its
 * limit; and never less than a tenth of what its shares make. shares       the part of the pool's weight
 * (divvy.h) that its VMs there hold of it, at least 1. The unit is that of its siblings, pools and VMs, so
 * that they compete on the host as they do in the cluster. All are whole numbers. The same snapshot gives the
 * same parts; O(V + parts · log V).
 *
 * Limits of pools below each other are not divvied further (Figure 2 does): a pool with a limit of its own
 * keeps all of it, because the pool above is limited on the host too, and lets those have more that want it
 * at the moment. */
#ifndef BALLAST_CORE_POOL_PARTS_H
#define BALLAST_CORE_POOL_PARTS_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* Every part, by host, then pool. demand: of each VM, by resource and index. */
void pool_parts(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                struct host_setting **ret, uint32_t *ret_n);

#endif
