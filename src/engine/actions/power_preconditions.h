/* power_preconditions.h: when a host may go to standby, and when one may be woken. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_PRECONDITIONS_H
#define BALLAST_ENGINE_ACTIONS_POWER_PRECONDITIONS_H

#include "engine/actions/preconditions.h"
#include "engine/ports.h"

#define SLEEP_SEEN_S 60 /* a host is put to standby on an inventory that came no longer ago than this */

/* Whether a power-off of the host is approved and has not ended. */
bool power_preconditions_standby_approved(const struct engine *e, const char *host);
/* Whether the host may be put to standby, by the newest inventory: 0, or what stands in the way. x: the
 * action that would do it, or NULL. Does not ask whether it is empty. */
int power_preconditions_check_standby(const struct engine *e, uint32_t host, const struct action *x,
                                      struct err *err);
/* Whether the move empties a host whose controllers have not answered yet (action.controllers_checked). */
bool power_preconditions_awaits_controllers(const struct engine *e, const struct action *move);
/* Whether the settings let the engine change the host's power without asking. */
bool power_preconditions_are_automatic(const struct engine *e, const struct host_facts *h);
/* How many hosts change their power now, for dpm.changes_max: counted before actions are looked at, and kept
 * while they are. */
void power_preconditions_count_changes(struct engine *e);
void power_preconditions_submitted(struct engine *e, const struct action *x);
/* An approved ACTION_POWER_OFF: once no VM is left on the host, asks for the inventory that proves it. */
void power_preconditions_want_proof(struct engine *e, struct action *x, instant_s now);
/* ACTION_STARTING: whether start() may be called again after an unclear answer. */
bool power_preconditions_standby_is_safe(const struct engine *e, const struct action *x, instant_s now);
/* No VM but agents is known to be on the host, on its way there, or not quite away. */
bool power_preconditions_host_is_idle(const struct engine *e, const char *host);

/* Of approved actions that change the power of a host: see preconditions(). */
enum preconditions power_preconditions_standby(const struct engine *e, const struct action *x, instant_s now,
                                               char *why);
enum preconditions power_preconditions_wake(const struct engine *e, const struct action *x, instant_s now,
                                            char *why);

#endif
