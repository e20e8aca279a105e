/* resolve.h: resolves names within a time limit. getaddrinfo() has none, and takes half a minute when no
 * name server answers. */
#ifndef BALLAST_IPMI_RESOLVE_H
#define BALLAST_IPMI_RESOLVE_H

#include "call_timeout.h"

#include <ballast/err.h>

#include <sys/socket.h>

/* The first UDP address of host and port. A numeric address needs no name server. A look-up that is late
 * goes on in its thread, and its result is dropped. */
int ipmi_resolve(const char *host, const char *port, const struct deadline *d, struct sockaddr_storage *ret,
                 socklen_t *ret_len, struct err *err);

#define IPMI_PEER_MAX 72

/* The address as text, as FreeIPMI takes it: "192.0.2.1:623", "[2001:db8::1]:623". */
int ipmi_address_write(const struct sockaddr_storage *address, socklen_t len, char to[IPMI_PEER_MAX],
                       struct err *err);

#endif
