/* correct.h: what the steps of constraint correction share (§3.3). plan_correct() (plan.h) calls them
 * in turn.
 *
 * A step returns false when the pass is to stop there (explain stands still before a VM's move).
 */
#ifndef BALLAST_CORE_CORRECT_H
#define BALLAST_CORE_CORRECT_H

#include "core/plan/findings.h"
#include "core/plan/pass_state.h"

/* Whether nothing keeps the unit even from a mandatory move. A cool-down does not. */
bool correct_can_move(const struct layout *l, uint32_t unit);

/* The same for a move of this priority: what is not mandatory waits for the end of a cool-down. */
bool correct_may_move(const struct layout *l, uint32_t unit, unsigned priority);

/* What keeps a unit where it is: the check that failed on the slot where it came closest (the checks are
 * asked in order, so a later one means that more was right); or, with slot IX_NONE, something that does not
 * depend on where it would go. CHECK_HOST_NOT_ON with IX_NONE: there is no other host. */
struct obstacle {
    enum check check;
    uint32_t unit, slot;
};

/* check_finding.c: that no other host can run VMs, what holds the VMs, or what is in the way on the host that
 * comes closest, with its figures. */
const struct finding *check_finding_of_obstacle(const struct pass *p, struct obstacle why);

/* The best host that the unit may go to; IX_NONE: none, and *ret_why says why. */
uint32_t correct_best_target(const struct pass *p, uint32_t unit, struct obstacle *ret_why);

/* The same for a unit that cannot stay: if its affine set is scattered, where all of the set can be. */
uint32_t correct_way_out(const struct pass *p, uint32_t unit, struct obstacle *ret_why);

enum outcome {
    OUTCOME_MOVED,
    OUTCOME_WAITS,   /* for a host that is being woken already */
    OUTCOME_STUCK,   /* it has nowhere to go */
    OUTCOME_STOPPED, /* the pass stops here */
};

/* Why a unit has to go. */
struct cause {
    enum reason reason;
    uint32_t rule;
    unsigned priority;
};

/* Moves a unit that cannot stay: where it may go as things stand; if it must go, also to where others make
 * room for it, or to a host that is woken for it (prerequisite_moves.h). OUTCOME_STUCK: *ret_why says why;
 * OUTCOME_WAITS: *ret_slot is the host that it waits for. */
enum outcome correct_bring_out(struct pass *p, uint32_t unit, struct cause cause, struct obstacle *ret_why,
                               uint32_t *ret_slot);

/* The other half of one of the unit's fault-tolerant pairs, on this slot; IX_NONE: there is none. */
uint32_t correct_peer_beside(const struct pass *p, uint32_t unit, uint32_t slot);

/* 1 for mandatory rules and for compatibility (IX_NONE), 2 for preferred ones. */
unsigned correct_priority(const struct pass *p, uint32_t rule);

/* Whether moves of this priority are made. At level 1, and where the pass makes mandatory moves only, a
 * preferred rule keeps a VM from going somewhere, but moves none. */
bool correct_is_due(const struct pass *p, unsigned priority);

/* Says that the rule is violated by the unit and cannot be kept. */
void correct_violated(struct pass *p, uint32_t unit, uint32_t rule, struct obstacle why);

/* ---- failover_moves.c ---- */

/* Makes room for VMs that have no failover slot; a fault for what is still missing after that. */
bool correct_failover(struct pass *p);

/* After the moves for balance: says anew what is missing, as it is in the end. */
void correct_failover_review(struct pass *p);

/* ---- evacuate.c ---- */
bool evacuate_hosts(struct pass *p);

/* ---- affine_sets.c ---- */

/* The slot to bring a scattered set together on by moves of this priority; IX_NONE: none, and *ret_why says
 * why. */
uint32_t affine_set_meeting_slot(const struct layout *l, uint32_t component, unsigned priority,
                                 struct obstacle *ret_why);
bool affine_sets_bring_together(struct pass *p);

#endif
