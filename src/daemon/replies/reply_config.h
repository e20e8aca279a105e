/* reply_config.h: what a reload would change, as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_CONFIG_H
#define BALLAST_DAEMON_REPLIES_REPLY_CONFIG_H

#include "base/strbuf.h"
#include "config/config.h"
#include "engine/engine.h"
#include "request/request.h"

/* Reads the configuration as a reload does, of the request's text or else of the service's own file, and
 * compares it with the one in force. Nothing changes. A configuration that a reload would refuse is an answer
 * too, with each mistake. Negative errno and a sentence: the file cannot be read. */
int reply_config_diff(const struct config *in_force, const struct engine *e, const struct request *q,
                      struct strbuf *out, struct err *err);

#endif
