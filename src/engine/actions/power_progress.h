/* power_progress.h: a power change while its task runs. */
#ifndef BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H
#define BALLAST_ENGINE_ACTIONS_POWER_PROGRESS_H

#include "engine/ports.h"

struct action;
struct engine;

/* The time limit of the change; the pause until the next inventory that may show the host. */
instant_s power_progress_timeout_s(const struct engine *e, const struct action *x);
instant_s power_progress_inventory_pause_s(const struct engine *e, const struct action *x, unsigned looks);
/* What a job about a host's power says beside the action itself. */
void power_progress_fill_operation(struct engine *e, struct action *x, enum job_kind kind, instant_s now,
                                   struct operation *q);
/* ACTION_RUNNING: whether an inventory shows already what the task is to bring about; asks for one where that
 * is to be known. */
bool power_progress_host_is_awake(struct engine *e, struct action *x, instant_s now);
/* Of an action of an earlier process: its task has yet to say which methods may have woken the host. */
bool power_progress_tells_method(const struct action *x);
/* Since when the time limit of the wake runs. */
instant_s power_progress_waits_since(const struct action *x);
/* Cancels an action whose task says that no method was tried. False: the task does not say so. */
bool power_progress_cancel_unasked(struct engine *e, struct action *x, const struct task_progress *p,
                                   instant_s now);
/* Keeps what a task reports of the methods to wake its host. */
void power_progress_methods(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);
/* Keeps what a running task reports: its new name, and the errors so far. */
void power_progress_record(struct engine *e, struct action *x, const struct task_progress *p, instant_s now);

#endif
