/* pool_updates.h: what pools have on the hosts (§3.1.7) is set as the plans say; where hosts have no pools,
 * what VMs have there.
 *
 * A plan says for each host what its pools (core/divvy/host_settings.h) or VMs (core/divvy/vm_controls.h)
 * should have there. Setting that moves nothing and can be repeated, so it takes no action, no number and no
 * approval of its own: it is what the admins of the pools have asked for already. It is done by itself in
 * partial and full automation. In manual it is not: there Ballast changes nothing without approval; the plans
 * list what would be set. Nor while paused, or on stale data.
 *
 * What was set of pools is stored after it was set; what VMs have is read from their hosts. Whatever moment
 * the process dies at, the next pass finds the difference again and sets it a second time, which does no
 * harm. What fails is said once for a host, and tried again when the next pass wants it; a newer plan takes
 * the place of what an older one has left. */
#ifndef BALLAST_ENGINE_ACTIONS_POOL_UPDATES_H
#define BALLAST_ENGINE_ACTIONS_POOL_UPDATES_H

#include "engine/ports.h"

struct engine;
struct observation;
struct pool_updates;

struct pool_updates *pool_updates_new(void);
void pool_updates_free(struct pool_updates *p);

/* After a pass: what its plan wants set is what is to be done from now on. */
void pool_updates_take(struct engine *e, const struct observation *v);
/* Sets as much as may be set now. */
void pool_updates_carry_on(struct engine *e, instant_s now);
void pool_updates_result(struct engine *e, const struct job *job, const struct job_result *result,
                         instant_s now);

#endif
