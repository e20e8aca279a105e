/* collector_thread.h: the thread that reads the cluster, so that the main thread never waits. It implements
 * the engine's source port: an inventory, or an error, arrives as news on the main thread's queue. */
#ifndef BALLAST_DAEMON_THREADS_COLLECTOR_THREAD_H
#define BALLAST_DAEMON_THREADS_COLLECTOR_THREAD_H

#include "daemon/threads/thread_results.h"

#include <ballast/collector.h>

/* Checks the configuration and starts the thread. What cfg points to must outlive the thread; *cfg->stop ends
 * a collection early. Its changed() is set here: a change is news, once until the next collection begins. */
int collector_thread_start(const struct collector_ops *ops, const struct source_config *cfg,
                           struct queue *news, struct source **ret, struct err *err);

/* Ends the thread; waits until the deadline (CLOCK_REALTIME, seconds) at most. -ETIMEDOUT: the thread still
 * runs, so nothing that it uses may be freed. Later requests are ignored. NULL is fine. */
int collector_thread_stop(struct source *s, int64_t deadline_s);
void collector_thread_free(struct source *s); /* after the thread has ended; NULL is fine */

extern const struct source_ops collector_thread_port;

#endif
