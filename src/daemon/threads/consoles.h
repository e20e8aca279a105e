/* consoles.h: captures the serial console of a host while an action wakes it.
 *
 * When an action begins to wake a host with `ipmi.console`, its console is read until the action has ended.
 * The last CONSOLE_KEPT bytes are stored with the action: at intervals, so that a kill loses little, and at
 * the end. A broken connection is made again. After a restart, capturing continues behind the stored bytes.
 *
 * The main thread reads and stores; another thread (console_opener.h) opens and closes connections. */
#ifndef BALLAST_DAEMON_THREADS_CONSOLES_H
#define BALLAST_DAEMON_THREADS_CONSOLES_H

#include "daemon/threads/power_setup.h"
#include "engine/ports.h"
#include "store/consoles.h"

#include <systemd/sd-event.h>

#define CONSOLE_KEPT ((size_t)64 * 1024)

struct consoles;

/* Uses this power setup from now on, after a reload. It must outlive the consoles. */
void consoles_change(struct consoles *c, const struct power_setup *power);

/* loop, store and power must outlive the consoles. */
int consoles_new(sd_event *loop, struct store *store, const struct power_setup *power, struct consoles **ret,
                 struct err *err);

/* Stores all captures and closes all connections. -ETIMEDOUT: a thread still runs at the deadline (time of
 * day) and uses this and `power`. NULL is fine. */
int consoles_stop(struct consoles *c, instant_s now, int64_t deadline_s);
void consoles_free(struct consoles *c); /* after consoles_stop(); NULL is fine */

/* Records a wake's state; after a failed wake the last console lines go to the log. consoles_update() does
 * the rest. */
void consoles_on_event(struct consoles *c, const struct event *ev);

/* Continues captures of wakes that an earlier process started. */
void consoles_resume(struct consoles *c, const struct engine *e);

/* Opens, stores and closes captures that are due. Call it after every event of the loop. s: the newest
 * snapshot, or NULL. */
void consoles_update(struct consoles *c, const struct snapshot *s, instant_s now);

#endif
