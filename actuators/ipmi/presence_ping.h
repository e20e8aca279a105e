/* presence_ping.h: tests whether a controller answers at all, and how fast.
 *
 * Before a session is tried, one message outside of any session is sent over a socket of our own. The
 * result distinguishes a controller that does not answer from one that refuses and one that answers
 * garbage; FreeIPMI does not. It also gives the address, so that FreeIPMI need not resolve the name, and
 * the answer time, which sets the pace of repeats: FreeIPMI changes a message's tag with each repeat, so a
 * repeat that is sent before the answer arrives makes that answer useless.
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

/* Error texts begin with the fault; the caller puts the host before them. */
int ipmi_presence_ping(const struct ipmi_settings *s, const struct deadline *d, struct ipmi_peer *ret,
                       struct err *err);

/* Requests a session with these algorithms, and does not use it, only to learn why a session is refused.
 * 0: it is not refused, or no answer came. FreeIPMI knows one of the several codes by which controllers
 * say that they lack a cipher suite. */
int ipmi_ask_why(const struct ipmi_settings *s, const uint8_t algorithms[3], const struct deadline *d,
                 struct err *err);

#endif
