/* alarm_digest.h: a digest for a target: the figures and the lines of `ballast status --since`. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_DIGEST_H
#define BALLAST_DAEMON_ALARMS_ALARM_DIGEST_H

#include "alarm/message.h"
#include "engine/engine.h"

#include <ballast/err.h>

/* days: history.days. The message is in the arena. */
int alarm_digest(const struct engine *e, struct store *store, int64_t days, const struct alarm_origin *o,
                 instant_s since, instant_s until, struct arena *a, struct alarm_message *ret,
                 struct err *err);

#endif
