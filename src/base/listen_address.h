/* listen_address.h: a numeric address and a port to listen on, as configurations write it. */
#ifndef BALLAST_BASE_LISTEN_ADDRESS_H
#define BALLAST_BASE_LISTEN_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

struct listen_address {
    struct sockaddr_storage at;
    socklen_t len;
};

/* "127.0.0.1:8480", "[::1]:8480", "localhost:8480" (127.0.0.1). Port 0: any free one. -EINVAL: none of
 * these. */
int listen_address_parse(const char *text, struct listen_address *ret);

/* Only programs of this machine reach it. */
bool listen_address_is_loopback(const struct listen_address *a);

#endif
