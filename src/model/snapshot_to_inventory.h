/* snapshot_to_inventory.h: from a snapshot back to an inventory: the inverse of snapshot_build().
 *
 * Objects come in the snapshot's order, references become ids again. snapshot_build() of the result gives an
 * identical snapshot; a caller may add objects before. The result shares strings and labels with the
 * snapshot.
 */
#ifndef BALLAST_MODEL_SNAPSHOT_TO_INVENTORY_H
#define BALLAST_MODEL_SNAPSHOT_TO_INVENTORY_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* One object. ids must have room for all ids that the object lists (a rule: VMs, then hosts), and must live
 * as long as the result. */
struct seen_host snapshot_to_inventory_host(const struct snapshot *s, const struct host *h, const char **ids);
struct seen_vm snapshot_to_inventory_vm(const struct snapshot *s, const struct vm *v, const char **ids);
struct seen_pool snapshot_to_inventory_pool(const struct snapshot *s, const struct pool *p);
struct seen_rule snapshot_to_inventory_rule(const struct snapshot *s, const struct rule *r, const char **ids);
struct seen_migration snapshot_to_inventory_migration(const struct snapshot *s, const struct migration *m);
struct seen_pending snapshot_to_inventory_pending(const struct snapshot *s, const struct pending *p);
struct seen_migration_rate snapshot_to_inventory_migration_rate(const struct snapshot *s,
                                                                const struct migration_rate *m);
struct seen_setting snapshot_to_inventory_setting(const struct snapshot *s, const struct host_setting *h);
struct seen_avoid snapshot_to_inventory_avoid(const struct snapshot *s, const struct avoid *x);
struct seen_group snapshot_to_inventory_group(const struct snapshot *s, const struct host_group *g,
                                              const char **ids);
struct seen_pipeline snapshot_to_inventory_pipeline(const struct snapshot *s, const struct pipeline *p,
                                                    struct arena *a);
struct seen_answer snapshot_to_inventory_answer(const struct snapshot *s, const struct unit_answer *x,
                                                struct arena *a);
struct ids snapshot_to_inventory_failover_hosts(const struct snapshot *s, const char **ids);

void snapshot_to_inventory(const struct snapshot *s, struct arena *a, struct inventory *ret);

#endif
