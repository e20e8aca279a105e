/* send.h: a magic packet on its way, as a UDP broadcast or as an Ethernet frame, from this machine.
 *
 * Each is sent three times, some milliseconds apart: nobody answers it, and one may get lost.
 */
#ifndef BALLAST_WOL_SEND_H
#define BALLAST_WOL_SEND_H

#include "actuators/wol/packet.h"

#define WOL_TIMES 3
#define WOL_GAP_MS 50
#define WOL_ETHERTYPE 0x0842

/* To an IPv4 address and port; interface: leaves there, NULL: where the routes lead. -ENETUNREACH,
 * -ENODEV (no such interface), ... */
int wol_send_udp(const struct magic *m, const char *address, unsigned port, const char *interface,
                 struct err *err);

/* To everybody on the interface's segment. -ENODEV; -EACCES: the service lacks CAP_NET_RAW. */
int wol_send_raw(const struct magic *m, const char *interface, struct err *err);

#endif
