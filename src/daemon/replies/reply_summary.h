/* reply_summary.h: the answer to `summary`: the time since a night began, in a few figures. README.md has the
 * fields.
 *
 * Every figure is taken from the store, so that a restart of the service changes none. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_SUMMARY_H
#define BALLAST_DAEMON_REPLIES_REPLY_SUMMARY_H

#include "base/strbuf.h"
#include "engine/engine.h"

/* days: how long ended actions are kept (history.days); nothing older is counted. -EINVAL: `since` is not in
 * the past. */
int reply_summary(const struct engine *e, const struct store_ops *ops, struct store *store, instant_s since,
                  int64_t days, instant_s now, struct strbuf *out, struct err *err);

#endif
