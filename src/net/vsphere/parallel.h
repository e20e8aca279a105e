/* vsphere/parallel.h: several requests of one session at once.
 *
 * A large cluster takes dozens of requests, each of which a vCenter answers after some seconds; one after the
 * other they take longer than the time between two inventories.
 */
#ifndef BALLAST_NET_VSPHERE_PARALLEL_H
#define BALLAST_NET_VSPHERE_PARALLEL_H

#include "net/vsphere/session.h"

/* Requests at once. A vCenter has some dozens of threads for all its clients. */
#define PARALLEL_MAX 8

struct parallel; /* the connections, kept for the next time */

void parallel_free(struct parallel *p); /* NULL is fine; before vsphere_free() */

/* Calls work(ctx, connection, i, err) for each i below n, on up to PARALLEL_MAX threads; it writes only what
 * belongs to i. A single item runs on the caller's thread and on `v`. *p is made at the first call. If the
 * session expires, the items that have not succeeded run again after a new login. Returns 0, or the error of
 * the first item (by i) that failed, after every running call has ended; none begins after an error. */
int parallel_run(struct parallel **p, struct vsphere *v, size_t n,
                 int (*work)(void *ctx, struct vsphere *v, size_t i, struct err *err), void *ctx,
                 struct err *err);

#endif
