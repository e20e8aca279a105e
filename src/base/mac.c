/* mac.c: parses Ethernet addresses. */
#include "base/mac.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define GROUP_BIT 1u /* of the first byte: a group address */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int mac_parse(const char *text, struct mac *ret)
{
    struct mac mac;
    char between = text[0] && text[1] ? text[2] : '\0';

    if (between != ':' && between != '-')
        return -EINVAL;
    for (size_t i = 0; i < MAC_SIZE; i++, text += 3) {
        int high = digit(text[0]);
        int low = high < 0 ? -1 : digit(text[1]);
        if (low < 0 || text[2] != (i + 1 < MAC_SIZE ? between : '\0'))
            return -EINVAL;
        mac.byte[i] = (uint8_t)(high << 4 | low);
    }
    *ret = mac;
    return 0;
}

bool mac_is_station(const struct mac *mac)
{
    static const struct mac zero;

    return (mac->byte[0] & GROUP_BIT) == 0 && memcmp(mac, &zero, sizeof *mac) != 0;
}
