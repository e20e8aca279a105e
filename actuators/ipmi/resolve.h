/* resolve.h: names to addresses, within a time: getaddrinfo() has no limit of its own, and a name server that
 * is away makes it take half a minute. */
#ifndef BALLAST_IPMI_RESOLVE_H
#define BALLAST_IPMI_RESOLVE_H

#include "call_timeout.h"

#include <ballast/err.h>

#include <sys/socket.h>

/* The first UDP address of host and port. Addresses are taken as they are. A look-up that is not done in time
 * goes on by itself and is forgotten. */
int ipmi_resolve(const char *host, const char *port, const struct deadline *d, struct sockaddr_storage *ret,
                 socklen_t *ret_len, struct err *err);

#define IPMI_PEER_MAX 72

/* The same in figures, as FreeIPMI takes it: "192.0.2.1:623", "[2001:db8::1]:623". */
int ipmi_address_write(const struct sockaddr_storage *address, socklen_t len, char to[IPMI_PEER_MAX],
                       struct err *err);

#endif
