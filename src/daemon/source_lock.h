/* source_lock.h: one service for a source on a machine.
 *
 * Two services with state folders of their own would undo each other's moves. Each holds a name that the
 * kernel gives once in a network namespace (an abstract Unix socket), made of the source's kind, URL and
 * cluster, until it ends. What notices a service on another machine is engine/other_service.h; a URL that
 * is written differently, known_peers.h. */
#ifndef BALLAST_DAEMON_SOURCE_LOCK_H
#define BALLAST_DAEMON_SOURCE_LOCK_H

#include <ballast/err.h>

/* *ret_fd holds the name while it is open. -EBUSY: another process has it; the sentence names that process.
 */
int source_lock(const char *source_name, int *ret_fd, struct err *err);

#endif
