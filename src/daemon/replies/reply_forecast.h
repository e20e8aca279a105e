/* reply_forecast.h: expected and actual demand, as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_FORECAST_H
#define BALLAST_DAEMON_REPLIES_REPLY_FORECAST_H

#include "base/json_writer.h"
#include "engine/engine.h"

/* Adds "forecast": the last `hours` hours, and a day ahead. README.md has the fields. */
void reply_forecast_put(struct json_writer *w, const struct engine *e, unsigned hours, instant_s now);

#endif
