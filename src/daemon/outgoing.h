/* outgoing.h: all ways out for what happens: the store and the log (journal.h), a broker (telling.h), whoever
 * follows at the socket (following.h). */
#ifndef BALLAST_DAEMON_OUTGOING_H
#define BALLAST_DAEMON_OUTGOING_H

#include "daemon/following.h"
#include "daemon/journal.h"
#include "daemon/telling.h"

struct outgoing {
    struct outlet *journal;
    struct telling *telling; /* NULL: no broker */
    struct following *following;
};

/* To be stopped and released also where it fails. */
int outgoing_open(const struct config *c, sd_event *loop, struct store *store, struct outgoing *ret,
                  struct err *err);

/* What was stored of what has happened goes out; what is old goes. */
void outgoing_go_on(struct outgoing *o, const struct engine *e, const struct config *c, instant_s now);

/* Of the broker; NULL where there is none. */
const struct telling_status *outgoing_look(const struct outgoing *o, struct telling_status *ret);

/* The broker's part, as telling_stop(). The rest is for when nothing happens any more. */
int outgoing_stop(struct outgoing *o, int64_t deadline_s);
void outgoing_release(struct outgoing *o);

#endif
