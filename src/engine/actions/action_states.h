/* action_states.h: actions through their states. */
#ifndef BALLAST_ENGINE_ACTIONS_ACTION_STATES_H
#define BALLAST_ENGINE_ACTIONS_ACTION_STATES_H

#include "engine/ports.h"

struct action;
struct engine;

#define ACTION_POLL_S 1 /* between two questions for a task's progress, in the beginning */

/* Takes every action as far as it gets now. */
void action_states_advance(struct engine *e, instant_s now);
void action_states_result(struct engine *e, const struct job *job, const struct job_result *result,
                          instant_s now);
/* The settings are others: what has been approved of hosts' power and has not begun is looked at anew. */
void action_states_reconfigured(struct engine *e);
void action_cancel(struct engine *e, struct action *x, const char *why,
                   instant_s now); /* and what needs it */
void action_approve(struct engine *e, struct action *x, const char *by, instant_s now);

#endif
