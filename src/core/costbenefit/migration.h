/* migration.h: duration, data and overhead of a live migration (§3.1.4; §6: the model is independent of its
 * callers).
 *
 * Pre-copy: the hypervisor copies the memory while the VM runs, then the pages dirtied meanwhile, and so on,
 * until the rest fits into the allowed downtime. */
#ifndef BALLAST_CORE_MIGRATION_H
#define BALLAST_CORE_MIGRATION_H

#include <ballast/units.h>

#include <stdbool.h>

struct migration_model {
    double copied_mb; /* in all rounds */
    double again_mb;  /* of `copied_mb`: pages sent again after a write */
    double duration_s;
    double downtime_s;
    bool converges; /* false: the VM dirties memory faster than it can be copied, so it is throttled */
};

/* rate > 0. dirty_mb_s may be UNKNOWN. */
void migration_model(double mem_mb, double dirty_mb_s, double rate_mb_s, struct migration_model *ret);

/* A lower bound of a migration at this copy rate, which is at most `fastest`: the memory is sent once, and
 * the pages dirtied meanwhile at the fastest rate once more; no downtime. (A lower rate may take less than a
 * higher one, because a throttled VM dirties fewer pages.) The data do not depend on the rate; the duration
 * is inversely proportional to it, so 0 at an infinite rate. */
void migration_least(double mem_mb, double dirty_mb_s, double fastest_mb_s, double rate_mb_s,
                     struct migration_model *ret);

/* The disks that are copied before the memory, once, at this rate. What the guest writes to them meanwhile is
 * sent as it writes, and is not counted. */
void migration_add_disks(double disks_mb, double rate_mb_s, struct migration_model *m);

/* CPU that copying uses on both hosts together, in MHz · s. */
double migration_copy_mhz_s(const struct migration_model *m);

/* The workload's loss of CPU at this demand, in MHz · s: a part all the time, a part per tracked page, all of
 * it during the downtime. At most its demand over the whole duration. */
double migration_loss_mhz_s(const struct migration_model *m, double demand_mhz);

/* The reverse, for learning from past migrations: the copy rate at which a VM with this dirty rate (or
 * UNKNOWN) takes so long, and the dirty rate at which it takes so long with this copy rate. mem > 0, duration
 * > 0, rate > 0. For the duration of a throttled migration, the dirty rate equals the copy rate: the true
 * excess is not visible. */
double migration_rate_of(double mem_mb, double dirty_mb_s, double duration_s);
double migration_dirty_of(double mem_mb, double rate_mb_s, double duration_s);

#endif
