/* presence_ping.h: is there a controller at all, and how quick is it?
 *
 * Before a session is tried, one message outside of any session is sent, over a socket of our own. That tells
 * a controller that is deaf from one that refuses and one that answers in garbage, which FreeIPMI does not;
 * it gives the address, so that FreeIPMI need not look up a name; and it gives the time that an answer takes,
 * on which the pace of repeating depends: whoever repeats sooner than answers come never gets one that fits
 * (FreeIPMI changes the message's tag each time).
 */
#ifndef BALLAST_IPMI_PRESENCE_PING_H
#define BALLAST_IPMI_PRESENCE_PING_H

#include "answer.h"
#include "call_timeout.h"
#include "resolve.h"
#include "settings.h"

struct ipmi_peer {
    char address[IPMI_PEER_MAX]; /* "192.0.2.1:623", "[2001:db8::1]:623" */
    int64_t answer_ms;           /* how long the answer took */
    struct ipmi_ping says;
};

/* Sentences begin with what is wrong; the caller widens them with the host. */
int ipmi_presence_ping(const struct ipmi_settings *s, const struct deadline *d, struct ipmi_peer *ret,
                       struct err *err);

/* Asks for a session with these algorithms, which is not taken up, only to learn why one is refused: 0 where
 * it is not, or where no answer came. FreeIPMI knows but one of the ways in which controllers say that they
 * do not offer a cipher suite. */
int ipmi_ask_why(const struct ipmi_settings *s, const uint8_t algorithms[3], const struct deadline *d,
                 struct err *err);

#endif
