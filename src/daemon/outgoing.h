/* outgoing.h: all ways out for what happens: the store and the log (journal.h), whoever follows it at the socket
 * (following.h).
 */
#ifndef BALLAST_DAEMON_OUTGOING_H
#define BALLAST_DAEMON_OUTGOING_H

#include "config/config.h"
#include "daemon/following.h"
#include "daemon/journal.h"

struct outgoing {
    struct outlet *journal;
    struct following *following;
};

/* To be released also where it fails. */
int outgoing_open(struct store *store, struct outgoing *ret, struct err *err);

/* What is old goes. */
void outgoing_go_on(struct outgoing *o, const struct config *c, instant_s now);

void outgoing_release(struct outgoing *o);

#endif
