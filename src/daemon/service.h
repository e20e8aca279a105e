/* service.h: everything wired together: configuration, store, threads, engine, socket, on one event loop. */
#ifndef BALLAST_DAEMON_SERVICE_H
#define BALLAST_DAEMON_SERVICE_H

#include "config/config.h"

#include <ballast/err.h>

/* Runs until SIGTERM or SIGINT. The arena holds the configuration and must outlive the call. argv: with what
 * this program runs, and is run once more where the time of day is set. 0: stopped as it should; a negative
 * errno with a sentence: it could not begin, anew or at all. */
int service_run(const struct config *config, char *const argv[], struct err *err);

#endif
