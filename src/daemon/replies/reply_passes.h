/* reply_passes.h: the passes that are kept, as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_PASSES_H
#define BALLAST_DAEMON_REPLIES_REPLY_PASSES_H

#include "base/strbuf.h"
#include "request/request.h"

struct store;

int reply_passes(struct store *store, const struct request *q, struct strbuf *out, struct err *err);

#endif
