/* memory_action.h: records of actions that own their strings, for memory_store.c. */
#ifndef BALLAST_SIM_MEMORY_ACTION_H
#define BALLAST_SIM_MEMORY_ACTION_H

#include "engine/ports.h"

struct action_record memory_action_copy(const struct action_record *r);
void memory_action_release(struct action_record *r);

/* In the arena: what a restart is given must stay as it was when the store goes on changing. */
struct action_record memory_action_lend(const struct action_record *r, struct arena *a);

#endif
