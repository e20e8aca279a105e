/* reply_console.h: a host's console output during a wake, cleaned, as JSON. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_CONSOLE_H
#define BALLAST_DAEMON_REPLIES_REPLY_CONSOLE_H

#include "base/strbuf.h"
#include "engine/ports.h"

#include <ballast/snapshot.h>

/* -ENOENT: there is no capture. s: for the host's name; NULL is fine. */
int reply_console(struct store *store, const struct snapshot *s, uint64_t action, struct strbuf *out,
                  struct err *err);

#endif
