/* starting.h: VMs that are about to run.
 *
 * Of a VM that was just placed nothing is known but what it may use, and until an inventory shows it run it
 * is on no host. The layout keeps its room in any case; the next VM that is placed is to see the load as
 * well, or one after the other would go to the host that was the emptiest before the first.
 */
#ifndef BALLAST_CORE_STARTING_H
#define BALLAST_CORE_STARTING_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* Makes it a VM that runs and uses all it can (§3.2: "the conservative assumption that the VM being placed
 * will consume its maximum possible load"): its configured memory, and for each vCPU a core of core_mhz. */
void starting_assume_all(struct vm *v, double core_mhz);

/* The snapshot with the VMs of pending placements running at their destinations, which have less memory free;
 * the snapshot itself where there are none. pending[] stays. */
const struct snapshot *starting_counted(const struct snapshot *snap, struct arena *a);

#endif
