/* broadcast.c: parses a broadcast address. It does not know the networks that there are. */
#include "base/broadcast.h"

#include "base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PREFIX_MAX 30 /* a network of two addresses or one has no broadcast address */

static bool read_prefix(const char *text, unsigned *ret)
{
    double bits = 0;

    if (strlen(text) == 0 || strlen(text) > 2 || strspn(text, "0123456789") != strlen(text) ||
        !number_parse(text, &bits) || bits < 1 || bits > PREFIX_MAX)
        return false;
    *ret = (unsigned)bits;
    return true;
}

int broadcast_parse(const char *text, struct broadcast *ret)
{
    char address[INET_ADDRSTRLEN];
    const size_t len = strcspn(text, "/");

    *ret = (struct broadcast){0};
    if (len >= sizeof address)
        return -EINVAL;
    memcpy(address, text, len);
    address[len] = '\0';
    if (inet_pton(AF_INET, address, &ret->address) != 1 ||
        (text[len] == '/' && !read_prefix(text + len + 1, &ret->prefix)))
        return -EINVAL;
    const uint32_t host_bits = UINT32_MAX >> ret->prefix;

    if (ret->prefix > 0 && (ntohl(ret->address.s_addr) & host_bits) != host_bits)
        return -EDOM;
    return 0;
}
