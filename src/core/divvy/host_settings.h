/* host_settings.h: which settings of the hosts' pools are worth a change (§3.1.7).
 *
 * Compares each pool's target on each host (pool_parts.h) with the host's present setting. The plan lists
 * only differences worth making: demand varies, and a calm cluster must not get thousands of new settings at
 * every pass.
 *   - A part without a present setting is listed. A pool without a VM on the host goes back to nothing: no
 *     reservation, no limit, no shares (host_setting_is_nothing()).
 *   - A part is off if one of its numbers differs by more than 5 %, and by more than 25 MHz or 32 MiB, or
 *     if its limit appears or disappears.
 *   - A pool is off if the sum of its present parts differs from the target's: by more than 1 %, so that no
 *     change of an admin's setting is lost; by more than 5 % for the reservation of a pool below another one,
 *     whose target varies with demand.
 *   - If a part of a host is off, or a part of a pool that is off differs there, all differences on that
 *     host are listed: a host's tree is consistent, and no pool has less than the pools below it.
 * So the settings in force stay within these bounds, and a plan's settings are not followed by others while
 * nothing changes. Hosts that are not connected are left alone. */
#ifndef BALLAST_CORE_HOST_SETTINGS_H
#define BALLAST_CORE_HOST_SETTINGS_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

/* By host, then pool. demand: by resource and VM. O(V + parts · log V); the third rule may read all parts
 * once per pool, but hardly ever more than twice. */
void host_settings(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                   struct host_setting **ret, uint32_t *ret_n);

#endif
