/* reply_schedule.h: the answer to `schedule`: what is set, what comes, and who is woken when. */
#ifndef BALLAST_DAEMON_REPLY_SCHEDULE_H
#define BALLAST_DAEMON_REPLY_SCHEDULE_H

#include "base/strbuf.h"
#include "config/config.h"
#include "engine/engine.h"

/* n: how many events that come. */
void reply_schedule(const struct engine *e, const struct config *c, instant_s now, unsigned n,
                    struct strbuf *out);

#endif
