/* actuator_workers.h: threads that carry out jobs for actuators, so that the main thread never waits. They
 * implement the engine's port to the actuators: each job returns with its result, as news on the main
 * thread's queue.
 *
 * Jobs that may block for long have workers of their own: a dead meter or controller must not delay a
 * migration. */
#ifndef BALLAST_DAEMON_THREADS_ACTUATOR_WORKERS_H
#define BALLAST_DAEMON_THREADS_ACTUATOR_WORKERS_H

#include "daemon/threads/thread_results.h"

#include <ballast/actuator.h>

/* ops NULL: the source has no actuator; every job fails. */
int actuator_workers_start(const struct actuator_ops *ops, const struct source_config *cfg,
                           struct queue *news, struct actuators **ret, struct err *err);

/* New jobs use these functions and this configuration. Jobs that wait or run keep the old ones, so both must
 * outlive the workers. cfg->stop must be that of the first call. */
int actuator_workers_change(struct actuators *w, const struct actuator_ops *ops,
                            const struct source_config *cfg, struct err *err);

/* New jobs carry the host's name, which name() returns on the submitting thread. NULL: not known. */
void actuator_workers_set_names(struct actuators *w, const char *(*name)(void *ctx, const char *host),
                                void *ctx);

/* As collector_thread_stop() and _free(). */
int actuator_workers_stop(struct actuators *w, int64_t deadline_s);
void actuator_workers_free(struct actuators *w);

extern const struct actuators_ops actuator_workers_port;

#endif
