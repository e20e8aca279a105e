/* consoles.h: what hosts say on their serial consoles while they wake.
 *
 * From the moment an action begins to wake a host whose configuration wants it (ipmi.console), its console is
 * read until the action has ended. The last CONSOLE_KEPT bytes are stored with the action: now and then
 * meanwhile, so that a kill loses little, and at the end. A connection that breaks is made again. After a
 * restart in the middle what was stored is gone on with.
 *
 * What is read and stored is so on the main thread; connections are made and ended by another
 * (console_opener.h).
 */
#ifndef BALLAST_DAEMON_CONSOLES_H
#define BALLAST_DAEMON_CONSOLES_H

#include "daemon/power_setup.h"
#include "engine/ports.h"
#include "store/consoles.h"

#include <systemd/sd-event.h>

#define CONSOLE_KEPT ((size_t)64 * 1024)

struct consoles;

/* Another one since a reload; it lives longer. */
void consoles_change(struct consoles *c, const struct power_setup *power);

/* store and power live longer; loop too. */
int consoles_new(sd_event *loop, struct store *store, const struct power_setup *power, struct consoles **ret,
                 struct err *err);

/* Stores what was captured so far, and ends all connections. -ETIMEDOUT: not by that time of day, so that a
 * thread still uses `power` and this. NULL is fine. */
int consoles_stop(struct consoles *c, instant_s now, int64_t deadline_s);
void consoles_free(struct consoles *c); /* one that has stopped, or NULL */

/* From an event sink: what a wake came to. A failed one's last lines go to the log. Nothing else is done yet.
 */
void consoles_hear(struct consoles *c, const struct event *ev);

/* Goes on with wakes that an earlier process has begun. */
void consoles_resume(struct consoles *c, const struct engine *e);

/* After anything that happened: opens, stores and closes what is due. s: the newest inventory, or NULL. */
void consoles_work(struct consoles *c, const struct snapshot *s, instant_s now);

#endif
