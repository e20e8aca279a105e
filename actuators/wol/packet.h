/* packet.h: the magic packet, as bytes; no network here.
 *
 * Six bytes of 0xff, the sleeper's MAC sixteen times, and its SecureOn password where it has one.
 */
#ifndef BALLAST_WOL_PACKET_H
#define BALLAST_WOL_PACKET_H

#include "base/mac.h"

#include <ballast/err.h>

#include <stddef.h>
#include <stdint.h>

#define MAC_REPEATED 16
#define MAGIC_MAX (MAC_SIZE + MAC_REPEATED * MAC_SIZE + MAC_SIZE)

struct magic {
    uint8_t byte[MAGIC_MAX];
    size_t len; /* 102, or 108 with SecureOn */
};

/* secureon may be NULL. -EINVAL, with a sentence: the MAC is invalid or a group's, or SecureOn is invalid;
 * the sentence never contains SecureOn. */
int packet_build(const char *mac, const char *secureon, struct magic *ret, struct err *err);

#endif
