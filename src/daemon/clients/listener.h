/* listener.h: a Unix socket that is listened on. */
#ifndef BALLAST_DAEMON_CLIENTS_LISTENER_H
#define BALLAST_DAEMON_CLIENTS_LISTENER_H

#include <ballast/err.h>

/* Listens on the path with mode 0660; makes the directory (0755) if it is missing. A socket without a
 * listener is replaced. -EADDRINUSE: another process listens. */
int listener_open(const char *path, int *ret_fd, struct err *err);

#endif
