/* reply_identity.h: whether the controllers of a host are known to be its own, as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_IDENTITY_H
#define BALLAST_DAEMON_REPLIES_REPLY_IDENTITY_H

#include "base/json_writer.h"
#include "engine/engine.h"

/* The member "identity" of an object. */
void reply_identity_put(struct json_writer *w, const struct engine *e, const char *host);

/* The answer to a confirmation. */
void reply_identity(const struct engine_identity *is, struct strbuf *out);

#endif
