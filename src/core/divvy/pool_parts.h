/* pool_parts.h: the pool tree divided into one tree per host (§3.1.7).
 *
 * Each host's scheduler divides the host's capacity by its own pool tree. A pool has a part on every host
 * that runs VMs of it or of its descendants: of its reservation and limit, as its VMs there were divvied; of
 * its shares, as its VMs there weigh. Together the hosts' trees act like the cluster's one tree on one large
 * host. A VM that is migrating, or is about to, counts on both hosts. VMs' own settings move with them and
 * are not part of this.
 *
 * Invariants, checked by tests/property/pool_parts.c:
 *   reservation: Σ parts over all hosts = the reservation that divvy_build_reserved() gives the pool's VMs,
 *     to within one unit; VMs in flight add theirs a second time. On each host, a part is at least the
 *     reservations below it, and the parts below the root and the VMs there reserve at most the host's
 *     capacity, if the VMs' own reservations fit.
 *   limit: none if the pool has none, whatever its ancestors have: their limits hold on the host too. Else
 *     Σ parts = the pool's limit, rounded (or its reservations, if VMs in flight make them larger), and
 *     each part is at least the reservation. No host gets less than its VMs' demand, unless the pool's
 *     demand exceeds its limit: then its VMs' entitlements decide; and never less than a tenth of its shares.
 *   shares: the VMs' part of the pool's weight (divvy.h), at least 1, in the unit of the pool's siblings,
 *     so that they compete on the host as in the cluster.
 * All numbers are whole. Equal snapshots give equal parts; O(V + parts · log V).
 *
 * Limits of nested pools are not divided further (Figure 2 does so): a pool keeps all of its own limit,
 * because its ancestors' limits hold on the host and let the pools with present demand use more. */
#ifndef BALLAST_CORE_POOL_PARTS_H
#define BALLAST_CORE_POOL_PARTS_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* All parts, by host, then pool. demand: by resource and VM. */
void pool_parts(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                struct host_setting **ret, uint32_t *ret_n);

#endif
