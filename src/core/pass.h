/* pass.h: one decision, from a frozen snapshot to a plan (§3 of Gulati et al. 2012).
 *
 * Pure: no clock, file, socket, log, thread or global. The same snapshot and policy give the same plan, stats
 * aside.
 */
#ifndef BALLAST_CORE_PASS_H
#define BALLAST_CORE_PASS_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

/* Decides. The plan lives in the arena and refers to the snapshot. -EINVAL where the settings make no sense;
 * what is wrong with the cluster is not an error but a fault in the plan. */
int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err);

/* ---- within core, for placement, explain and the choice of preferred rules ---- */

struct pass;

/* Steps 1 to 4: everything before the first decision. rules: RULES_PREFERRED ... (rules.h). watched_vm: see
 * plan/pass_state.h; IX_NONE. */
void pass_prepare(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                  uint32_t watched_vm, struct arena *a);

/* Steps 1 to 7. */
void pass_decide(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                 uint32_t watched_vm, struct arena *a);

/* Step 8: fills the plan's recommendations and the state after them. */
void pass_order(struct pass *p, struct plan *ret);

#endif
