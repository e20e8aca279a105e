/* preferred_rules.h: which preferred rules a pass enforces (§3.3.1). First all of them, as if mandatory. If
 * that leaves a constraint unmet, without those that cannot hold, for as few of their VMs as possible; then
 * without any, if that leaves fewer unmet. Rules that contradict each other leave their VMs where they are.
 * Rules that are left out and violated get a fault that names what they would do.
 *
 * The paper drops all preferred rules at once, so that a single one that cannot hold disables all others. */
#ifndef BALLAST_CORE_PREFERRED_RULES_H
#define BALLAST_CORE_PREFERRED_RULES_H

#include <ballast/arena.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct pass;

/* The chosen pass, after pass_decide(). watched_vm: plan/pass_state.h. */
struct pass *preferred_rules_run(const struct snapshot *snap, const struct policy *policy,
                                 uint32_t watched_vm, struct arena *a);

#endif
