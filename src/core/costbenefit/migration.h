/* migration.h: what a live migration takes (§3.1.4, §6: the model stands apart from those who use it).
 *
 * Pre-copy: the memory is copied while the VM runs, then what it dirtied meanwhile, and so on, until the rest
 * fits into the allowed downtime.
 */
#ifndef BALLAST_CORE_MIGRATION_H
#define BALLAST_CORE_MIGRATION_H

#include <ballast/units.h>

#include <stdbool.h>

struct migration_model {
    double copied_mb; /* all rounds together */
    double again_mb;  /* ... of it, what had been copied before and was written to since */
    double duration_s;
    double downtime_s;
    bool converges; /* false: the VM dirties memory faster than it can be copied, and has to be throttled */
};

/* rate > 0. dirty_mb_s may be UNKNOWN. */
void migration_model(double mem_mb, double dirty_mb_s, double rate_mb_s, struct migration_model *ret);

/* What it takes at least at this rate, which is `fastest` or lower: the memory is sent, and what is dirtied
 * meanwhile at the fastest rate, once; nobody stands still. (A lower rate may take less than a higher one: at
 * some point the VM is throttled, and less is sent twice.) What is sent does not depend on the rate, and the
 * time is in inverse proportion to it: at an infinite one there is none. */
void migration_least(double mem_mb, double dirty_mb_s, double fastest_mb_s, double rate_mb_s,
                     struct migration_model *ret);

/* CPU that copying takes on the two hosts together, in MHz · s. */
double migration_copy_mhz_s(const struct migration_model *m);

/* What the workload in the VM loses, in MHz · s, at this demand: some of it all the while, some of it for
 * each page that it writes to while those are tracked, all of it while it stands still. Never more than it
 * wants in all that time. */
double migration_loss_mhz_s(const struct migration_model *m, double demand_mhz);

/* The model backwards, for learning from migrations that have happened: the rate at which a VM with this
 * dirty rate (or UNKNOWN) would have taken so long, and the dirty rate with which it would have, at this
 * rate. mem > 0, duration > 0, rate > 0. A VM that took as long as a throttled one has a dirty rate equal to
 * the rate, which does not converge: how much more it was, cannot be seen. */
double migration_rate_of(double mem_mb, double dirty_mb_s, double duration_s);
double migration_dirty_of(double mem_mb, double rate_mb_s, double duration_s);

#endif
