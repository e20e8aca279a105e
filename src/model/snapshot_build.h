/* snapshot_build.h: from an inventory to a snapshot that a pass may trust. */
#ifndef BALLAST_MODEL_SNAPSHOT_BUILD_H
#define BALLAST_MODEL_SNAPSHOT_BUILD_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>
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

/* Adds what has begun since. The list before it stays as it is, for copies of the snapshot. */
void snapshot_build_add_pending(struct snapshot *s, const struct recommendation *r, struct arena *a);

/* A step of snapshot_build(): the demand forecast, into s. */
int snapshot_build_quiet(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);
int snapshot_build_forecast(const struct inventory *inv, struct arena *a, struct snapshot *s,
                            struct err *err);

/* s->promise, from the policies in s. */
void snapshot_build_promise(struct snapshot *s);

/* The VMs that run on each host, and what it uses itself, into s, whose VMs and migrations are there already.
 */
void snapshot_build_on_hosts(struct snapshot *s, struct arena *a);

/* avoid[] and standing[], into s, whose VMs and hosts are there already. */
int snapshot_build_avoid(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);

struct place;

/* Sorts by key, for the order in the source has no meaning; refuses a key that is given twice. */
int snapshot_build_sort_labels(const struct place *at, const char *field, struct labels *l, struct arena *a);

/* groups[], into s, whose hosts are there already. */
int snapshot_build_groups(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);

/* pipelines[] and their stages, into s; before the VMs, which name them. */
int snapshot_build_pipelines(const struct inventory *inv, struct arena *a, struct snapshot *s,
                             struct err *err);

/* answers[], into s, whose hosts and VMs are there already. */
int snapshot_build_answers(const struct inventory *inv, struct arena *a, struct snapshot *s, struct err *err);

/* The number of the pipeline that the VM names; IX_NONE: it names none (NULL). */
int snapshot_build_find_pipeline(const struct snapshot *s, const struct place *at, const char *name,
                                 uint32_t *ret);

#endif
