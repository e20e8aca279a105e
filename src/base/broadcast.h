/* broadcast.h: an IPv4 address that packets to all hosts of a network are sent to, as an admin writes it:
 * "10.0.3.255", or "10.0.3.255/24", which declares the network that it belongs to. */
#ifndef BALLAST_BASE_BROADCAST_H
#define BALLAST_BASE_BROADCAST_H

#include <netinet/in.h>

struct broadcast {
    struct in_addr address;
    unsigned prefix; /* bits of the network's part; 0: not declared */
};

/* -EINVAL: neither of the two; -EDOM: not the broadcast address of the network that it declares. */
int broadcast_parse(const char *text, struct broadcast *ret);

#endif
