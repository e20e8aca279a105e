/* power_progress.h: a power change while its task runs. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H
#define BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H

#include "engine/ports.h"

struct action;
struct engine;

/* How long it may take; how long until the next look whether the host is there. */
instant_s power_progress_timeout_s(const struct engine *e, const struct action *x);
instant_s power_progress_inventory_pause_s(const struct engine *e, const struct action *x, unsigned looks);
/* What a job about a host's power says beside the action itself. */
void power_progress_fill_operation(struct engine *e, struct action *x, enum job_kind kind, instant_s now,
                                   struct operation *q);
/* ACTION_RUNNING: whether an inventory shows already what the task is to bring about; asks for one where that
 * is to be known. */
bool power_progress_host_is_awake(struct engine *e, struct action *x, instant_s now);
/* Since when the host has had time to come. */
instant_s power_progress_waits_since(const struct action *x);
/* Takes back one whose task says that nobody was asked for anything; false: it does not say so. */
bool power_progress_cancel_unasked(struct engine *e, struct action *x, const struct task_progress *p,
                                   instant_s now);
/* What a task that goes on says of itself: a new name, and what went wrong on the way. */
void power_progress_record(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);

#endif
