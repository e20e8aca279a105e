/* journal.h: the engine's event sink: an event goes to the log at once, and into the store's table of events.
 *
 * An event is stored in the same transaction as the change that it reports: a crash loses none, and no event
 * reports a change that was rolled back. While the store fails, events wait in memory, up to
 * JOURNAL_WAITING_MAX. Dropping events, from memory or unsent from the store, is itself an event (EVENT_GAP).
 */
#ifndef BALLAST_DAEMON_EVENTS_JOURNAL_H
#define BALLAST_DAEMON_EVENTS_JOURNAL_H

#include "engine/ports.h"
#include "store/events.h"

#define JOURNAL_WAITING_MAX 10000

/* Reads the last event's number. */
int journal_open(struct store *store, struct event_sink **ret, struct err *err);
void journal_free(struct event_sink *o); /* NULL is fine */

extern const struct event_sink_ops journal_sink;

/* The last stored event's number. */
uint64_t journal_last(const struct event_sink *o);

/* Prunes events: those older than `days` that were sent (up to `sent`), each time that the engine has pruned
 * what is too old (`pruned`), and the oldest beyond `most`, sent or not. Pruning unsent events is reported by
 * an event. Returns the number up to which no event is left. */
uint64_t journal_prune(struct event_sink *o, int64_t days, int64_t most, uint64_t sent, instant_s pruned,
                       instant_s now);

#endif
