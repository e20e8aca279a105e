/* action_record.h: copies of struct action_record, each with texts of its own. */
#ifndef BALLAST_ENGINE_ACTIONS_ACTION_RECORD_H
#define BALLAST_ENGINE_ACTIONS_ACTION_RECORD_H

#include "engine/ports.h"

/* On the heap, for action_record_release(). */
struct action_record action_record_copy(const struct action_record *r);
void action_record_release(struct action_record *r);

/* In the arena: what is given away must stay as it is while its source goes on changing. */
struct action_record action_record_lend(const struct action_record *r, struct arena *a);

#endif
