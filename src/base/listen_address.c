/* listen_address.c: reads addresses to listen on. */
#include "base/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MOST 65535
#define LOOPBACK_NET 127 /* 127.0.0.0/8 */

static int read_port(const char *text, in_port_t *ret)
{
    unsigned long port = 0;

    if (*text < '0' || *text > '9' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 5)
        return -EINVAL;
    port = strtoul(text, NULL, 10);
    if (port > PORT_MOST)
        return -EINVAL;
    *ret = htons((uint16_t)port);
    return 0;
}

int listen_address_parse(const char *text, struct listen_address *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&ret->at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ret->at;
    const char *colon = strrchr(text, ':');
    bool bracket = text[0] == '[';
    char host[INET6_ADDRSTRLEN];
    in_port_t port = 0;

    memset(ret, 0, sizeof *ret);
    if (!colon || read_port(colon + 1, &port) < 0 || (bracket && (colon < text + 2 || colon[-1] != ']')))
        return -EINVAL;
    size_t len = (size_t)(colon - text) - (bracket ? 2 : 0);

    if (len >= sizeof host)
        return -EINVAL;
    memcpy(host, text + bracket, len);
    host[len] = '\0';
    if (bracket && inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = port;
        ret->len = sizeof *v6;
        return 0;
    }
    if (bracket ||
        inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4->sin_addr) != 1)
        return -EINVAL;
    v4->sin_family = AF_INET;
    v4->sin_port = port;
    ret->len = sizeof *v4;
    return 0;
}

bool listen_address_is_loopback(const struct listen_address *a)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&a->at;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&a->at;

    if (a->at.ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == LOOPBACK_NET;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}
