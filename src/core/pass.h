/* pass.h: one decision, from a snapshot to a plan (§3 of Gulati et al. 2012).
 *
 * Pure: no clock, file, socket, log, thread or global. Equal snapshots and policies give equal plans,
 * statistics aside. */
#ifndef BALLAST_CORE_PASS_H
#define BALLAST_CORE_PASS_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/plan.h>

/* Decides. The plan lives in the arena and refers to the snapshot. -EINVAL: the policy is out of range. A
 * problem of the cluster is a fault in the plan, not an error. */
int pass_run(const struct snapshot *snap, const struct policy *policy, struct arena *a, struct plan *ret,
             struct err *err);

/* ---- for placement, explain and preferred rules ---- */

struct pass;

/* Steps 1 to 4, before the first decision. rules: RULES_PREFERRED ... (rules.h). watched_vm:
 * plan/pass_state.h. */
void pass_prepare(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                  uint32_t watched_vm, struct arena *a);

/* Steps 1 to 7. */
void pass_decide(struct pass *p, const struct snapshot *snap, const struct policy *policy, unsigned rules,
                 uint32_t watched_vm, struct arena *a);

/* Step 8: fills the plan's recommendations and the state after them. */
void pass_order(struct pass *p, struct plan *ret);

#endif
