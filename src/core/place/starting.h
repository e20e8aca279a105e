/* starting.h: VMs that are about to run.
 *
 * The demand of a VM with a pending power-on is unknown, and the inventory still shows it on no host. The
 * layout counts its reservation. The next placement must also count its load, or VM after VM would go to the
 * host that was the emptiest before the first. */
#ifndef BALLAST_CORE_STARTING_H
#define BALLAST_CORE_STARTING_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* Makes it a running VM that uses all it can (§3.2: "the conservative assumption that the VM being placed
 * will consume its maximum possible load"): its configured memory, and core_mhz per vCPU. */
void starting_assume_all(struct vm *v, double core_mhz);

/* The snapshot with the VMs of pending power-ons running on their hosts, which have less memory free; the
 * snapshot itself if there are none. pending[] stays. */
const struct snapshot *starting_counted(const struct snapshot *snap, struct arena *a);

/* What has been decided and has not arrived, by host, in the arena: VMs that are to start, with all they can
 * use, and VMs that are to come or are coming from another host, with their demand of CPU and the memory that
 * they consume. */
void starting_on_the_way(const struct snapshot *s, struct arena *a, double *ret[RES_COUNT]);

#endif
