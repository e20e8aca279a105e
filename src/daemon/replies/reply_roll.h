/* reply_roll.h: the roll of maintenance as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_ROLL_H
#define BALLAST_DAEMON_REPLIES_REPLY_ROLL_H

#include "base/json_writer.h"
#include "engine/engine.h"

/* The member "roll" of an object; null if there never was one. */
void reply_roll_put(struct json_writer *w, const struct engine *e);

/* The answer to the request. */
void reply_roll(const struct engine *e, struct strbuf *out);

#endif
