/* thaw.h: from what a pass may trust back to what was seen: the inverse of freezing.
 *
 * Objects come in the snapshot's order, references become ids again. Freezing what was thawed gives the same
 * snapshot; in between something may be added. Strings and labels are shared with the snapshot.
 */
#ifndef BALLAST_MODEL_THAW_H
#define BALLAST_MODEL_THAW_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* One object. ids has room for all ids that it lists (a rule: VMs, then hosts), and must live as long. */
struct seen_host thaw_host(const struct snapshot *s, const struct host *h, const char **ids);
struct seen_vm thaw_vm(const struct snapshot *s, const struct vm *v, const char **ids);
struct seen_pool thaw_pool(const struct snapshot *s, const struct pool *p);
struct seen_rule thaw_rule(const struct snapshot *s, const struct rule *r, const char **ids);
struct seen_migration thaw_migration(const struct snapshot *s, const struct migration *m);
struct seen_pending thaw_pending(const struct snapshot *s, const struct pending *p);
struct seen_migration_rate thaw_migration_rate(const struct snapshot *s, const struct migration_rate *m);
struct seen_setting thaw_setting(const struct snapshot *s, const struct host_setting *h);
struct ids thaw_failover_hosts(const struct snapshot *s, const char **ids);

void snapshot_thaw(const struct snapshot *s, struct arena *a, struct inventory *ret);

#endif
