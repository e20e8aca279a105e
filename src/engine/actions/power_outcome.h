/* power_outcome.h: what came of a power change, and what it leaves behind. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_OUTCOME_H
#define BALLAST_ENGINE_ACTIONS_POWER_OUTCOME_H

#include "engine/engine.h"

struct action;

/* A move off a host that is to go to standby was cancelled, and its VM does not run there. */
bool power_outcome_vm_left_by_itself(const struct engine *e, const struct action *x);
/* It has ended without success, but had begun, and was not refused: the host may have heard it all the same,
 * and go when nobody waits for that any more. */
bool power_outcome_off_may_follow(const struct action *x);
/* ... and that was so short a time ago that no VM should go there; the same of a host. */
bool power_outcome_off_uncertain(const struct engine *e, const struct action *x, instant_s now);
bool power_outcome_host_off_uncertain(const struct engine *e, const char *host, instant_s now);
/* ... and now its manager has lost it: it sleeps because of us, as far as can be known. */
bool power_outcome_off_completed_late(const struct engine *e, const char *host);
/* What was to put the host down has ended otherwise, and it counts as asleep: what is to wake it after that
 * is needed all the more. */
bool power_outcome_wake_still_needed(const struct engine *e, const struct action *up,
                                     const struct action *down);
/* What its end means for the host. */
void power_outcome_apply(struct engine *e, const struct action *x, instant_s now);
/* Where a new plan wants more hosts on: takes back what would put others to standby and has not begun, as
 * many as the plan would wake; with `more`, or where the hosts are too full and none could be woken, all. Not
 * what an admin asked for. True: something was, and the plan does not know it. */
bool power_outcome_withdraw_standbys(struct engine *e, const struct plan *plan, bool more, instant_s now);

#endif
