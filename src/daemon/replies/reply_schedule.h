/* reply_schedule.h: the answer to `schedule`: settings, coming events, and the hosts to wake. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_SCHEDULE_H
#define BALLAST_DAEMON_REPLIES_REPLY_SCHEDULE_H

#include "base/json_writer.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "engine/engine.h"

/* n: the number of coming events. */
void reply_schedule(const struct engine *e, const struct config *c, instant_s now, unsigned n,
                    struct strbuf *out);

/* Adds "balance": whether optional moves are carried out now; null without balance.windows, or a snapshot
 * (NULL). */
void reply_schedule_put_balance(struct json_writer *w, const struct snapshot *s);

#endif
