/* telling.h: what a broker is told, and how far that is: the main thread's side of teller.h.
 *
 * The store is the queue: events are read from it in their order, a handful at a time, and up to which one
 * the broker has them is stored as soon as it says so (the note `mqtt_sent`). A process that dies sends the
 * few again that were on their way; their CloudEvents ids are the same. */
#ifndef BALLAST_DAEMON_TELLING_H
#define BALLAST_DAEMON_TELLING_H

#include "config/config.h"
#include "engine/engine.h"
#include "store/events.h"

#include <systemd/sd-event.h>

struct telling;

/* NULL where no broker is configured; what happens until there is one is not sent then. `last`: the newest
 * event's number. The configuration must live longer. */
int telling_start(const struct config *c, sd_event *loop, struct store *store, uint64_t last,
                  struct telling **ret, struct err *err);

/* Something has happened: passes on what there is, up to the event `last`. May be called at any time; t may
 * be NULL, here and below. */
void telling_go_on(struct telling *t, const struct engine *e, uint64_t last, instant_s now);

/* Up to which event the broker has them; UINT64_MAX where there is none. */
uint64_t telling_sent(const struct telling *t);

/* All events up to this one are not in the store any more. */
void telling_gone(struct telling *t, uint64_t id);

struct telling_status {
    const char *url;
    bool connected;
    instant_s since;     /* it is in this state */
    uint64_t sent;       /* up to which event the broker has them ... */
    uint64_t unsent;     /* ... and how many it has not */
    uint64_t refused;    /* messages that it did not want, since the start */
    const char *error;   /* why it is not connected; NULL */
    const char *refusal; /* the last one; NULL */
};

/* False: no broker is configured. Valid until telling_go_on(). */
bool telling_look(const struct telling *t, uint64_t last, struct telling_status *ret);

/* As teller_stop(). */
int telling_stop(struct telling *t, int64_t deadline_s);
void telling_free(struct telling *t);

#endif
