/* service.h: connects configuration, store, threads, engine and socket on one event loop. */
#ifndef BALLAST_DAEMON_SERVICE_H
#define BALLAST_DAEMON_SERVICE_H

#include "config/config.h"

#include <ballast/err.h>

/* Runs until SIGTERM or SIGINT. The configuration must outlive the call. argv: this program's arguments, used
 * to run it again after the clock was set. 0: stopped as requested; a negative errno and a sentence: the
 * start or the restart failed. */
int service_run(const struct config *config, char *const argv[], struct err *err);

#endif
