/* mac.h: Ethernet addresses as text. */
#ifndef BALLAST_BASE_MAC_H
#define BALLAST_BASE_MAC_H

#include <stdbool.h>
#include <stdint.h>

#define MAC_SIZE 6

struct mac {
    uint8_t byte[MAC_SIZE];
};

/* Six pairs of hexadecimal digits with colons or dashes between them. -EINVAL: anything else. */
int mac_parse(const char *text, struct mac *ret);

/* The address of one network card: neither a group address nor all zeros. */
bool mac_is_station(const struct mac *mac);

#endif
