/* reply_daemon.h: the part of a status that only the daemon knows, not its engine. README.md has the fields.
 */
#ifndef BALLAST_DAEMON_REPLY_DAEMON_H
#define BALLAST_DAEMON_REPLY_DAEMON_H

#include "base/json_writer.h"
#include "daemon/mqtt_feed.h"
#include "net/login_guards.h"

struct daemon_state {
    const struct mqtt_status *broker; /* NULL: there is no broker */
    struct login_guards *logins;      /* of the hosts' controllers; NULL: there are none */
    const char *reload_by;            /* who asked for the reload that waits; NULL: none waits */
    instant_s reload_since;
};

void reply_daemon_put(struct json_writer *w, const struct daemon_state *d, instant_s now);

#endif
