/* reply_series.h: figures of the past as JSON: of the cluster, a host, a pool or a VM. engine/look.h defines
 * the figures. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_SERIES_H
#define BALLAST_DAEMON_REPLIES_REPLY_SERIES_H

#include "base/json_writer.h"
#include "engine/engine.h"
#include "request/request.h"

/* Adds "series". Without `until` up to now, without `since` the day before that. */
int reply_series_put(struct json_writer *w, const struct engine *e, struct store *store,
                     const struct request *q, instant_s now, struct err *err);

#endif
