/* unit_thread.h: the thread that asks external units, so that the main thread never waits. It implements the
 * engine's port of units: their answers arrive as news on the main thread's queue. */
#ifndef BALLAST_DAEMON_THREADS_UNIT_THREAD_H
#define BALLAST_DAEMON_THREADS_UNIT_THREAD_H

#include "daemon/threads/thread_results.h"
#include "units/units.h"

/* list is copied. *stop ends a question early. */
int unit_thread_start(const struct unit_config *list, size_t n, const atomic_bool *stop, struct queue *news,
                      struct unit_port **ret, struct err *err);

/* These units from the next question on; unchanged ones are started anew, too. */
void unit_thread_configure(struct unit_port *t, const struct unit_config *list, size_t n);

/* As collector_thread_stop() and _free(). */
int unit_thread_stop(struct unit_port *t, int64_t deadline_s);
void unit_thread_free(struct unit_port *t);

extern const struct unit_port_ops unit_thread_port;

#endif
