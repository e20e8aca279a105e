/* reply_daemon.h: the part of a status that only the daemon knows, not its engine. README.md has the fields.
 */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_DAEMON_H
#define BALLAST_DAEMON_REPLIES_REPLY_DAEMON_H

#include "base/json_writer.h"
#include "daemon/alarms/alarm_feed.h"
#include "daemon/mqtt/mqtt_feed.h"
#include "net/login_guards.h"
#include "store/limit.h"

struct daemon_state {
    const struct mqtt_status *broker; /* NULL: there is no broker */
    const char *const *commands;      /* that it may send; NULL at the end */
    const struct alarm_feed *alarms;
    struct login_guards *logins; /* of the hosts' controllers; NULL: there are none */
    const char *reload_by;       /* who asked for the reload that waits; NULL: none waits */
    instant_s reload_since;
    struct store_size store; /* used_bytes 0: not known */
};

void reply_daemon_put(struct json_writer *w, const struct daemon_state *d, instant_s now);

#endif
