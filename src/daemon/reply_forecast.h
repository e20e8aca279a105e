/* reply_forecast.h: the part of reply.c that tells what was expected. */
#ifndef BALLAST_DAEMON_REPLY_FORECAST_H
#define BALLAST_DAEMON_REPLY_FORECAST_H

#include "base/json_writer.h"
#include "engine/engine.h"

/* "forecast": so many hours back, and a day ahead. README.md has the fields. */
void reply_forecast_put(struct json_writer *w, const struct engine *e, unsigned hours, instant_s now);

#endif
