/* plan.h: the steps of a pass that make the plan, in the order of pass.c. */
#ifndef BALLAST_CORE_PLAN_H
#define BALLAST_CORE_PLAN_H

#include "core/plan/pass_state.h"

/* faults.c: adds the faults that exist before any decision. */
void plan_report_state(struct pass *p);

/* correct.c: mandatory moves, the fewest and cheapest; a fault for each violation that no move mends. */
void plan_correct(struct pass *p);

/* quarantine.c: moves VMs off hosts that are degraded, where rules and load allow. */
void quarantine_empty_hosts(struct pass *p);

/* After all moves: a fault for each such host. */
void quarantine_report(struct pass *p);

/* optional_moves.c: moves for balance, the best first, while the benefit exceeds the cost. */
void plan_balance(struct pass *p);

/* rule_moves.c: whether rules of pipelines make the moves for balance, and makes them. Of each pipeline with
 * a balance the first of its rules, as many as that says. */
bool rule_moves_decide(const struct pass *p);
void rule_moves_make(struct pass *p);

/* By slot: hosts to which or from which a VM goes, also by the plan so far, or whose power changes. */
bool *rule_moves_busy(const struct pass *p);

/* Why no rule moves the unit to the slot at this moment: of the rule that comes closest. */
const struct finding *rule_moves_stays(const struct pass *p, uint32_t unit, uint32_t slot);

/* deep_moves.c: with policy.search deep, searches from the moves of p->search_from, and fills p->found.
 * Returns false, because the pass ends here. */
bool plan_search_deeper(struct pass *p, uint32_t left);

/* Fills p->measure after the moves for balance, which are the decisions from `first` on. */
void plan_measure_balance(struct pass *p, size_t first);

/* The moves for balance of a pass, as the start of a deep search. */
void plan_moves_for_balance(const struct pass *p, struct proposal *ret);

/* Whether the moves for balance of the first pass are better: fewer overloaded hosts; then the target
 * reached, or else less imbalance; then fewer VMs moved; then less memory copied. Where moves of the second
 * one stand, it must be clearly better. */
bool plan_balances_better(const struct pass *p, const struct pass *than);

/* standing.c: fills p->standing_to and p->standing_off. */
void plan_standing_init(struct pass *p);

/* What a mandatory move's destination counts as, which is better where it stands. */
double plan_standing_imbalance(const struct pass *p, uint32_t unit, uint32_t slot, double imbalance);

/* Adds the moves for balance that stand. Call it before the first move for balance. */
void plan_standing_list(const struct pass *p, struct proposal *ret);

/* Whether a plan for balance is clearly better than one with moves that stand. */
bool plan_standing_is_beaten(const struct balance_measure *stands, const struct balance_measure *by);

/* best_plan.c: the lower bound of the imbalance, with policy.bound. plan_bound_start() is called before the
 * first move for balance, plan_bound_tell() after the last one. The moves for balance are the decisions from
 * `first` on. */
void plan_bound_start(struct pass *p);
void plan_bound_tell(struct pass *p, size_t first);

/* room_moves.c: moves that make room for VMs of the size of policy.room: as many spaces as moves_max allows
 * where that is the objective, else as many as policy.room.free says. */
void plan_make_room(struct pass *p);

/* The spaces before and after the plan. */
void plan_tell_room(const struct pass *p, struct plan *ret);

/* failover_after.c: of the decisions from `first` on, all of them moves for balance, the unit of one that
 * leaves more failover capacity missing than before `first`, although the moves before it do not; IX_NONE:
 * none. The slots are found anew, as the next pass finds them. Changes nothing. */
uint32_t plan_failover_broken_by(const struct pass *p, size_t first);

/* failover_after.c: what is missing (failover_gaps_lack()) when failover slots are found anew in the layout,
 * as the next pass finds them. Changes nothing. */
double plan_failover_lack(const struct layout *l);

/* failover_after.c: whether VMs have no failover slot after the corrections, where none was without before.
 */
bool plan_failover_lost(const struct pass *p);

/* failover_after.c: whether the corrections of a pass that gives up failover capacity for maintenance are
 * better: no more VMs are stuck; then hosts lack less headroom, or loads are evener and no more is missing.
 */
bool plan_evacuates_better(const struct pass *p, const struct pass *than);

/* After all moves: reports the remaining gaps in failover capacity. */
void plan_review(struct pass *p);

/* overload_faults.c: at the end, where no move for balance passed: a fault for each overloaded host, which
 * names the memory with which a VM could move away, or what rejects the best move. */
void plan_report_overload(struct pass *p);

/* What the last level asked of a move for balance; NULL: no level ran, or cost_benefit is off. */
const struct finding *plan_ratio_finding(const struct pass *p);

/* Where no move for balance passed: the check that rejected the best one off the slots from `first` up to
 * `end`. NULL: none would lower the imbalance, or balancing ended for another reason. */
const struct finding *plan_refused_finding(struct pass *p, uint32_t first, uint32_t end);

/* off_vms.c: the host at which a VM that is off is registered before its own goes to standby; IX_NONE: it
 * stays. given_mb: by host, the memory of those that the plan sends there before it. */
uint32_t plan_off_vm_host(const struct pass *p, uint32_t vm, const double *given_mb);

/* order.c: turns decisions into recommendations with dependencies and the imbalance after each. Returns the
 * layout after the plan, whose units are single VMs. */
const struct layout *plan_order(struct pass *p, struct plan *ret);

#endif
