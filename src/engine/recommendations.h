/* recommendations.h: what a plan recommends, as actions with numbers that last. */
#ifndef BALLAST_ENGINE_RECOMMENDATIONS_H
#define BALLAST_ENGINE_RECOMMENDATIONS_H

#include "engine/ports.h"

#include <ballast/plan.h>

struct engine;
struct action;
struct observation;

/* The record that says what the recommendation says; number, dependencies and the sentence apart. Borrows its
 * strings. */
struct action_record recommendation_record(const struct snapshot *s, const struct recommendation *rec,
                                           uint64_t pass);
/* Room for the number that each of the plan's recommendations is given, by its id in the plan; all 0. */
uint64_t *recommendation_numbers(const struct plan *plan, struct arena *a);
/* Translates its dependencies, and adds those that the plan could not name: moves of earlier plans that make
 * room at its destination and have not ended. False: it depends on something that was dropped. */
bool recommendation_needs(struct engine *e, struct action *x, const struct recommendation *rec,
                          const uint64_t *number, struct arena *a);
/* Whether an action is under way, or waits, for the same VM. A pass knows of those and proposes nothing for
 * their VMs; should it ever do so, what was approved first wins. */
bool recommendation_vm_is_taken(const struct engine *e, const char *vm);
/* The action that already does the same to the power of the same host, or NULL. */
const struct action *recommendation_find_power_change(const struct engine *e, const struct action_record *r);
/* Gives every recommendation of the plan its number: ret_number[plan's id], 0 for one that was dropped. What
 * the pass does not recommend any more expires. proof: one more that the plan does not have (proofs.h), or
 * NULL. ret: what changed, in the arena. */
void recommendations_take(struct engine *e, const struct observation *v, const struct action_record *proof,
                          uint64_t pass, struct arena *a, uint64_t *ret_number,
                          struct recommendation_changes *ret, instant_s now);

#endif
