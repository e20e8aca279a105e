/* migration_timing.h: migrations are timed while they are carried out. */
#ifndef BALLAST_ENGINE_ACTIONS_MIGRATION_TIMING_H
#define BALLAST_ENGINE_ACTIONS_MIGRATION_TIMING_H

#include "engine/ports.h"

struct action;
struct actions;
struct migration_stats;

/* It is about to be begun; its task was asked for; it has ended well. */
void migration_timing_begin(struct actions *all, struct action *x, instant_s now);
void migration_timing_polled(struct action *x, const struct task_progress *p, instant_s now);
void migration_timing_end(struct migration_stats *stats, const struct action *x, instant_s now);
/* What backed the VM when its move began, or backs it now; UNKNOWN: it is no move, or the VM is not known. */
double migration_timing_mem_mb(const struct actions *all, const struct action *x);
/* There is a new inventory. */
void migration_timing_observe(struct actions *all);

#endif
