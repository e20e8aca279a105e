/* mac.h: parses Ethernet addresses. */
#ifndef BALLAST_BASE_MAC_H
#define BALLAST_BASE_MAC_H

#include <stdbool.h>
#include <stdint.h>

#define MAC_SIZE 6

struct mac {
    uint8_t byte[MAC_SIZE];
};

/* Accepts six pairs of hexadecimal digits separated by colons or dashes. -EINVAL: any other text. */
int mac_parse(const char *text, struct mac *ret);

/* Whether the address belongs to one network card: neither a group address nor all zeros. */
bool mac_is_station(const struct mac *mac);

#endif
