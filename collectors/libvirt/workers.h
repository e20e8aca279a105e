/* workers.h: one thread for each host that is being asked, so that a host that hangs costs the others no
 * time.
 *
 * A thread lives as long as its question. One that is stuck is left behind, and its host is not asked again
 * before it has ended: there is never more than one. It holds all that it uses, also when the collector is
 * gone. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_WORKERS_H
#define BALLAST_COLLECTORS_LIBVIRT_WORKERS_H

#include "collectors/libvirt/host_look.h"
#include "net/libvirt/connections.h"

struct workers;

/* One of n hosts; conn_ms: how long it waits for a connection; disks: the sizes of VMs' disks are asked for.
 */
struct workers *workers_new(struct libvirt_connections *conns, const char *const *names, size_t n,
                            int64_t conn_ms, bool disks);
void workers_free(struct workers *w); /* waits for no thread; NULL is fine */

/* Begins a look at the host; `before` is held meanwhile. verdicts_on: not NULL: a look that only lacks the
 * comparison of these CPUs; the result is a look of them alone, for host_look_add_verdicts(). False: its last
 * thread has not ended. */
bool workers_begin(struct workers *w, size_t host, struct host_look *before,
                   const struct host_look *verdicts_on, const struct cpu_list *cpus);

/* Waits until no thread of the hosts that are marked is busy, at most until the deadline, or until *stop. */
void workers_wait(struct workers *w, const bool *hosts, int64_t deadline_ms, const atomic_bool *stop);

/* The result of the last question, once: 0 and the look, which the caller releases; its error; -EBUSY: the
 * thread has not ended; -ENOENT: there is no result (any more). */
int workers_take(struct workers *w, size_t host, struct host_look **ret, struct err *err);

#endif
