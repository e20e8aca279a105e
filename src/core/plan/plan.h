/* plan.h: the steps of a pass that make the plan. */
#ifndef BALLAST_CORE_PLAN_H
#define BALLAST_CORE_PLAN_H

#include "core/plan/pass_state.h"

/* faults.c: what is wrong with the cluster, whatever is decided. */
void plan_report_state(struct pass *p);

/* correct.c: the fewest and cheapest moves that mend what is violated; a fault for what cannot be mended. */
void plan_correct(struct pass *p);

/* optional_moves.c: moves that even the hosts out, the best first, while they pay. */
void plan_balance(struct pass *p);

/* After the last of them: what is missing for failures is said as it is in the end. */
void plan_review(struct pass *p);

/* order.c: decisions become recommendations, with dependencies and the imbalance after each. Returns the
 * layout that they lead to, VM by VM. */
const struct layout *plan_order(struct pass *p, struct plan *ret);

#endif
