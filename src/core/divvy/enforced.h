/* enforced.h: the cluster as its hypervisors divide it.
 *
 * The configuration may set reservations, limits, shares and pools that the source does not have
 * (src/overlay). They decide the entitlements of VMs; a host divides its capacity by those of the source. The
 * views here are snapshots with the same indices, so that all of this folder works on them. Without anything
 * that the configuration overrides, a view is the snapshot itself. */
#ifndef BALLAST_CORE_ENFORCED_H
#define BALLAST_CORE_ENFORCED_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* VMs have the settings and the pool of the source; a pool of the source has its own settings, or the
 * overridden ones if some host has a part of it (snap->settings): a plan's settings bring them there. A pool
 * of the configuration is empty and has nothing. Lives in the arena. */
const struct snapshot *enforced_view(const struct snapshot *snap, struct arena *a);

/* The same, with overridden settings in all pools of the source: as the hosts' pools should be set. */
const struct snapshot *enforced_wanted(const struct snapshot *snap, struct arena *a);

#endif
