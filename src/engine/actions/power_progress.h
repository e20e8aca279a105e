/* power_progress.h: a power change while its task runs. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H
#define BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H

#include "engine/engine.h"

struct action;

#define WHY_ALL 2048 /* bytes that all that went wrong on the way may take, in one text */

/* How long it may take; how long until the next look whether the host is there. */
instant_s power_patience_s(const struct engine *e, const struct action *x);
instant_s power_look_pause_s(const struct engine *e, const struct action *x, unsigned looks);
/* What a job about a host's power says beside the action itself. */
void power_request(struct engine *e, struct action *x, enum job_kind kind, instant_s now,
                   struct operation *q);
/* ACTION_RUNNING: whether an inventory shows already what the task is to bring about; asks for one where that
 * is to be known. */
bool power_is_there(struct engine *e, struct action *x, instant_s now);
/* Since when the host has had time to come. */
instant_s power_waits_since(const struct action *x);
/* Whether the task goes on at all, its time being over at `until`. */
bool task_has_time(const struct action *x, instant_s until, instant_s now);
/* Takes back one whose task says that nobody was asked for anything; false: it does not say so. */
bool power_was_not_asked(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);
/* What a task that goes on says of itself: a new name, and what went wrong on the way. */
void task_goes_on(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);
/* Puts one more sentence behind what is known of the action; used up as `why` of its next state. In the arena
 * of nobody: *buffer. */
const char *why_with(const struct action *x, const char *more, char buffer[WHY_ALL]);

#endif
