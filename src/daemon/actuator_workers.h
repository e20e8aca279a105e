/* actuator_workers.h: the threads that carry out jobs for actuators, so that the main one never waits. They
 * implement the engine's port to the actuators: each job comes back with its result, as news on the main
 * thread's queue.
 *
 * What may keep its caller waiting has workers of its own: a meter, or a host's own controller, that is deaf
 * must not keep a VM from being moved. */
#ifndef BALLAST_DAEMON_ACTUATOR_WORKERS_H
#define BALLAST_DAEMON_ACTUATOR_WORKERS_H

#include "daemon/news.h"

#include <ballast/actuator.h>

/* ops NULL: a source that can only be looked at; every job fails. */
int actuator_workers_start(const struct actuator_ops *ops, const struct source_config *cfg,
                           struct queue *news, struct actuators **ret, struct err *err);

/* From now on jobs are carried out by other functions, or with another configuration; those that wait or are
 * under way keep to theirs, so that both must live as long as the workers. cfg->stop is the first one's. */
int actuator_workers_change(struct actuators *w, const struct actuator_ops *ops,
                            const struct source_config *cfg, struct err *err);

/* From now on a job says what its host is called: what name() says when the job is submitted, on the thread
 * that submits it. NULL: not known. */
void actuator_workers_set_names(struct actuators *w, const char *(*name)(void *ctx, const char *host),
                                void *ctx);

/* As collector_thread_stop() and _free(). */
int actuator_workers_stop(struct actuators *w, int64_t deadline_s);
void actuator_workers_free(struct actuators *w);

extern const struct actuators_ops actuator_workers_port;

#endif
