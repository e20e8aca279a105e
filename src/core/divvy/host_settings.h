/* host_settings.h: which of the hosts' settings are worth changing (§3.1.7).
 *
 * What each pool should have on each host (pool_parts.h) is compared with what was last set there. The plan
 * lists only differences worth making, because demand wavers, and a calm cluster must not have thousands of
 * settings rewritten at every pass:
 *   - A part that was never set is listed. Where a pool has no VM left it goes back to nothing: no
 *     reservation, no limit, no shares (host_setting_is_nothing()).
 *   - A part is off if a number of it is off by more than 5 %, and by more than 25 MHz or 32 MiB; or if it
 *     begins or ceases to be limited.
 *   - A pool is off if its parts, as they would be in force, add up to something else than they should: by
 *     more than 1 %, so that an admin's own change is never lost among the wavering; by more than 5 % where
 *     the sum itself wavers, which is the reservation of a pool below another one.
 *   - Where any part of a host is off, or a part there belongs to a pool that is off and is not as it should
 *     be, all that differs on the host is listed: a host's tree is right as a whole, a pool never left with
 *     less than those below it.
 * So what is in force is always within these bounds; and a plan's settings, once they are set, are not
 * followed by others as long as nothing changes. Hosts that are not up are left as they are. */
#ifndef BALLAST_CORE_HOST_SETTINGS_H
#define BALLAST_CORE_HOST_SETTINGS_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* By host, then pool. demand: of each VM, by resource and index. O(V + parts · log V); the third rule may
 * look at all parts once for each pool, but hardly ever does more than twice. */
void host_settings(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                   struct host_setting **ret, uint32_t *ret_n);

#endif
