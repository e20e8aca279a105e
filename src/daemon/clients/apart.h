/* apart.h: work in a process of its own, which can be ended at any moment, and gets so much and no more.
 *
 * A decision has no clock and no way to be stopped, and what it is asked for may take hours or gigabytes. The
 * process is a copy of this one with the thread that calls, at the lowest priority and without its
 * descriptors; it ends with that thread. */
#ifndef BALLAST_DAEMON_CLIENTS_APART_H
#define BALLAST_DAEMON_CLIENTS_APART_H

#include "base/strbuf.h"

#include <ballast/err.h>

#include <stdatomic.h>

#define APART_CPU_S 30       /* of processor time */
#define APART_MEMORY_MB 1024 /* beyond what this process has */

/* Writes the answer to `out`; a negative errno with a sentence: there is none. */
typedef int apart_work(const void *ctx, struct strbuf *out, struct err *err);

/* What work() gives. -ECANCELED: *stop became true. -EUSERS: it took more than it may. */
int apart_run(apart_work *work, const void *ctx, const atomic_bool *stop, struct strbuf *out,
              struct err *err);

#endif
