/* send.h: sends a magic packet from this machine, as a UDP broadcast or as an Ethernet frame.
 *
 * Each packet is sent three times, some milliseconds apart: no host answers it, and one may get lost.
 */
#ifndef BALLAST_WOL_SEND_H
#define BALLAST_WOL_SEND_H

#include "actuators/wol/packet.h"

#define WOL_TIMES 3
#define WOL_GAP_MS 50
#define WOL_ETHERTYPE 0x0842

/* Sends to an IPv4 address and port, by this interface or, with NULL, by the routes. -ENETUNREACH, -ENODEV
 * (no such interface), ... */
int wol_send_udp(const struct magic *m, const char *address, unsigned port, const char *interface,
                 struct err *err);

/* Broadcasts on the interface's segment. -ENODEV; -EACCES: the service lacks CAP_NET_RAW. */
int wol_send_raw(const struct magic *m, const char *interface, struct err *err);

#endif
