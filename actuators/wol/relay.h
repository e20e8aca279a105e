/* relay.h: sends a magic packet from another machine in the sleeping host's segment, reached by ssh.
 *
 * ssh runs without a terminal and without questions (BatchMode); the ssh configuration of the service's
 * user decides whether the relay's key is trusted. The packet goes to ssh's standard input, so that no
 * command line holds a SecureOn password, and so that a key can be bound to a command of the relay's own.
 * The arguments of the command line are checked before: addresses, numbers and names of interfaces only.
 */
#ifndef BALLAST_WOL_RELAY_H
#define BALLAST_WOL_RELAY_H

#include "actuators/wol/packet.h"
#include "base/remote_address.h"
#include "base/strbuf.h"

#include <stdatomic.h>
#include <stdint.h>

/* The relay's request. */
struct relay_errand {
    const struct remote_address *relay;
    const char *key_file;    /* NULL: ssh's own choice */
    const char *address;     /* UDP: an IPv4 address. NULL: a raw frame on the interface */
    unsigned port;           /* UDP */
    const char *interface;   /* of the relay; may be NULL with UDP */
    int64_t deadline_ms;     /* by net_now_ms() */
    const atomic_bool *stop; /* NULL: never */
};

/* -EACCES: the relay refuses the login, or its user may not send such a packet; -ENOTSUP: it has no
 * program to send with, or ssh is not installed here; -EKEYREJECTED: the relay's key is not the known one;
 * -ETIMEDOUT, ... */
int relay_send(const struct relay_errand *e, const struct magic *m, struct err *err);

/* What the relay's `ip -json` says: its interfaces in the first line, the route to e->address in the second;
 * empty where it has no such program, or the key is bound to another command. The same errors. */
int relay_look(const struct relay_errand *e, struct strbuf *ret, struct err *err);

#endif
