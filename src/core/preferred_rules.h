/* preferred_rules.h: which rules a pass follows (§3.3.1): with the preferred ones as if they were mandatory;
 * where that leaves something unmet, without those that cannot be kept; where even that does, without any, if
 * less is unmet then. What was left out is said.
 *
 * The original drops all of them at once. A single one that cannot be kept would then switch off all others.
 */
#ifndef BALLAST_CORE_PREFERRED_RULES_H
#define BALLAST_CORE_PREFERRED_RULES_H

#include <ballast/arena.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct pass;

/* The pass that counts, decided (pass_decide()). watched_vm: pass_state.h; IX_NONE. */
struct pass *preferred_rules_run(const struct snapshot *snap, const struct policy *policy,
                                 uint32_t watched_vm, struct arena *a);

#endif
