/* journal.h: the engine's event sink: what it says goes to the log at once, and into the store's table of
 * events.
 *
 * An event is stored in the same transaction as what it tells of: none is lost in a crash, and none tells of
 * what was rolled back. While nothing can be stored it is kept in memory, up to JOURNAL_WAITING_MAX; what is
 * dropped then, or dropped from the store before it was sent, is itself an event (EVENT_GAP). */
#ifndef BALLAST_DAEMON_JOURNAL_H
#define BALLAST_DAEMON_JOURNAL_H

#include "engine/ports.h"
#include "store/events.h"

#define JOURNAL_WAITING_MAX 10000

/* Reads how far the numbers have come. */
int journal_open(struct store *store, struct event_sink **ret, struct err *err);
void journal_free(struct event_sink *o); /* NULL is fine */

extern const struct event_sink_ops journal_sink;

/* The number of the last event that is stored. */
uint64_t journal_last(const struct event_sink *o);

/* Every now and then: drops events that are older than so many days and were sent (all up to `sent`), and the
 * oldest of those that are more than so many, sent or not. The latter are said, as an event. Returns up to
 * which number nothing is there any more to be sent. */
uint64_t journal_tidy(struct event_sink *o, int64_t days, int64_t most, uint64_t sent, instant_s now);

#endif
