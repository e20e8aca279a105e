/* correct.h: the steps of constraint correction (§3.3), which plan_correct() calls, and what they share.
 *
 * A step returns false when the pass stops there (explain stops before a VM's move). */
#ifndef BALLAST_CORE_CORRECT_H
#define BALLAST_CORE_CORRECT_H

#include "core/plan/findings.h"
#include "core/plan/pass_state.h"

/* Whether the unit may make a mandatory move. A cool-down does not prevent it. */
bool correct_can_move(const struct layout *l, uint32_t unit);

/* Whether the unit may make a move of this priority: priority 2 and above waits for the end of a cool-down,
 * and is not for a VM that moves only when it must. */
bool correct_may_move(const struct layout *l, uint32_t unit, unsigned priority);

/* Why a unit cannot move: the check that failed on the slot that passed most checks (checks have a fixed
 * order). slot IX_NONE: the check holds on every slot; CHECK_HOST_NOT_ON: no other host can run VMs. */
struct obstacle {
    enum check check;
    uint32_t unit, slot;
};

/* obstacle_finding.c: the finding for an obstacle, with its figures. */
const struct finding *obstacle_finding(const struct pass *p, struct obstacle why);

/* The allowed host with the lowest imbalance after the move; IX_NONE: none, and *ret_why is the obstacle. */
uint32_t correct_best_target(const struct pass *p, uint32_t unit, struct obstacle *ret_why);

enum outcome {
    OUTCOME_MOVED,
    OUTCOME_WAITS,   /* for a host whose wake is under way */
    OUTCOME_STUCK,   /* no destination */
    OUTCOME_STOPPED, /* the pass stops here */
};

/* Why a unit must move. */
struct cause {
    enum reason reason;
    uint32_t rule;
    unsigned priority;
};

/* Moves a unit that cannot stay: to an allowed host; for a mandatory move also after prerequisite moves or to
 * a host that the plan wakes (prerequisite_moves.h, host_wakes.h). OUTCOME_STUCK: *ret_why is the obstacle;
 * OUTCOME_WAITS: *ret_slot is the host. */
enum outcome correct_bring_out(struct pass *p, uint32_t unit, struct cause cause, struct obstacle *ret_why,
                               uint32_t *ret_slot);

/* The other half of a fault-tolerant pair of the unit on this slot; IX_NONE: none. */
uint32_t correct_peer_beside(const struct pass *p, uint32_t unit, uint32_t slot);

/* 1 for mandatory rules and for compatibility (IX_NONE), 2 for preferred ones. */
unsigned correct_priority(const struct pass *p, uint32_t rule);

/* Whether the pass makes moves of this priority. At level 1, and in a pass of mandatory moves only, preferred
 * rules move no VM; they still keep VMs off hosts. */
bool correct_is_due(const struct pass *p, unsigned priority);

/* Adds a fault: the unit violates the rule, and no move mends it. */
void correct_violated(struct pass *p, uint32_t unit, uint32_t rule, struct obstacle why);

/* ---- failover_moves.c ---- */

/* Frees a failover slot for each VM that has none; a fault for each remaining gap. */
bool correct_failover(struct pass *p);

/* After the balancing: replaces the faults by the gaps at the end of the plan. */
void correct_failover_review(struct pass *p);

/* ---- evacuate.c ---- */
bool evacuate_hosts(struct pass *p);

/* ---- quarantine.c ---- */

/* Whether the slot is that of a degraded host that is on. */
bool quarantine_has(const struct pass *p, uint32_t slot);

/* The best host by move_preference_rank() that keeps headroom and that the unit has not just left; IX_NONE:
 * none. */
uint32_t quarantine_best_target(const struct pass *p, uint32_t unit);

/* ---- affine_sets.c ---- */

/* The slot on which moves of this priority can bring a scattered set together; IX_NONE: none, and *ret_why is
 * the obstacle. */
uint32_t affine_set_meeting_slot(struct layout *l, uint32_t component, unsigned priority,
                                 struct obstacle *ret_why);
bool affine_sets_bring_together(struct pass *p);

#endif
