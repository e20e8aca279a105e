/* power_outcome.h: the results of a power change, and their later effects. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_OUTCOME_H
#define BALLAST_ENGINE_ACTIONS_POWER_OUTCOME_H

#include "engine/actions/action.h"
#include "engine/actions/preconditions.h"
#include "engine/engine.h"

/* A move off a host that is about to enter standby was cancelled, and its VM no longer runs there. */
bool power_outcome_vm_left_by_itself(const struct engine *e, const struct action *x);
/* A power-off began and then failed or was cancelled, without being refused, so recently that no VM should be
 * moved to the host: it may still power off. By action; by host. */
bool power_outcome_off_uncertain(const struct engine *e, const struct action *x, instant_s now);
bool power_outcome_host_off_uncertain(const struct engine *e, const char *host, instant_s now);
/* After such a power-off the host's manager no longer sees the host: it is taken to be in standby. */
bool power_outcome_off_completed_late(const struct engine *e, const char *host);
/* `down` failed or was cancelled, but the host counts as asleep: the wake `up`, which depends on `down`, is
 * still needed. */
bool power_outcome_wake_still_needed(const struct engine *e, const struct action *up,
                                     const struct action *down);
/* A standby that is done: names the VMs that are registered on the host and do not run. NULL: there are none,
 * or it is no standby. */
const char *power_outcome_remaining_vms(const struct engine *e, const struct action *x, char why[WHY_MAX]);
/* ACTION_POWER_ON: an inventory shows the host on. why: what is to be kept of it; "": nothing. False: it was
 * to be woken by a certain method, and was not, or not by that alone. */
bool power_outcome_host_is_back(struct engine *e, struct action *x, char why[WHY_ALL]);
/* Records for the host that the action has ended. A standby that was approved and is not done: moves that
 * were to empty the host and have not begun are cancelled. */
void power_outcome_apply(struct engine *e, const struct action *x, instant_s now);
/* Where a new plan wants more hosts on: takes back what would put others to standby and has not begun, as
 * many as the plan would wake; with `more`, or where the hosts are too full and none could be woken, all. Not
 * what an admin asked for. True: something was, and the plan does not know it. */
bool power_outcome_withdraw_standbys(struct engine *e, const struct plan *plan, bool more, instant_s now);

/* Whether VMs that ran went down with the host that the action put to standby, as the newest inventory shows:
 * with what to say of it, and an event. */
bool power_outcome_vms_went_down(struct engine *e, const struct action *x, instant_s now, char why[WHY_ALL]);
/* The same of standbys that have ended: what a source says of VMs may be older than what it says of hosts. */
void power_outcome_look_again(struct engine *e, instant_s now);
/* The host is woken at once, unless dpm.wake_for_vms forbids that. */
void power_outcome_wake_for_vms(struct engine *e, const struct action *down, instant_s now);

#endif
