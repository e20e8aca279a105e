/* happened.h: what really happened in a recorded time, from actions, looks, passes and events. Inside
 * backtest only. */
#ifndef BALLAST_BACKTEST_HAPPENED_H
#define BALLAST_BACKTEST_HAPPENED_H

#include "backtest/recording.h"

/* Fills rec->real, the maintenance of hosts, and what is not repeated, of the time from rec->from until
 * rec->until. passes: the newest first. */
int happened_read(struct store *s, const struct pass_record *passes, size_t n, struct arena *a,
                  struct recording *rec, struct err *err);

#endif
