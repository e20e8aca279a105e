/* action_facts.h: what the engine's own actions say of an inventory. */
#ifndef BALLAST_ENGINE_ACTIONS_ACTION_FACTS_H
#define BALLAST_ENGINE_ACTIONS_ACTION_FACTS_H

#include "engine/knowledge/knowledge.h"

/* A host that its manager has lost sleeps, or is on its way there, where we put it to standby, unless the
 * source says that a VM runs there. To be called before knowledge_fill(). */
void action_facts_explain_lost_hosts(struct engine *e, struct inventory *inv);
/* Moves, starts and wakes that are approved or under way, hosts that are to be empty, and back-offs. To be
 * called after knowledge_fill(). */
void action_facts_fill(const struct engine *e, struct inventory *inv, struct arena *a);
/* Wakes of ours that have not ended; in the arena, their texts the actions' own. */
size_t action_facts_wakes(const struct engine *e, struct arena *a, const struct wake_under_way **ret);

#endif
