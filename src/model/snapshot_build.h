/* snapshot_build.h: from an inventory to a snapshot that a pass may trust. */
#ifndef BALLAST_MODEL_SNAPSHOT_BUILD_H
#define BALLAST_MODEL_SNAPSHOT_BUILD_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/snapshot.h>

/* Checks everything that snapshot.h promises, sorts, resolves references. The snapshot shares the inventory's
 * strings, so the inventory's arena must live as long. -EINVAL with "JSON-pointer: what is wrong, what was
 * expected"; the pointer counts the objects in the inventory's order ("/vms/3/host: no host has the id
 * "h9"").
 *
 * Refused: negative, infinite or absurd sizes, a reservation above its limit or above the object's size,
 * duplicate and unknown ids, a pool cycle, a VM that is on without a host or on a host in standby or
 * maintenance, demand on a VM that is off, a host without capacity, rules of VMs or hosts that do not exist.
 */
int snapshot_build(const struct inventory *inv, struct arena *a, struct snapshot *ret, struct err *err);

/* A step of snapshot_build(): the demand forecast, into s. */
int snapshot_build_quiet(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);
int snapshot_build_forecast(const struct inventory *inv, struct arena *a, struct snapshot *s,
                            struct err *err);

/* avoid[], into s, whose VMs and hosts are there already. */
int snapshot_build_avoid(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);

#endif
