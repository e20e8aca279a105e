/* wol.h: the power method Wake-on-LAN: a magic packet (AMD's "Magic Packet Technology", publication
 * 20213), sent from here or by a relay in the host's segment. No host answers such a packet, so success
 * means only that it was sent. README.md says what a relay needs. */
#ifndef BALLAST_WOL_H
#define BALLAST_WOL_H

#include <ballast/power.h>

/* Only wakes. */
extern const struct power_method_ops wol_method;
extern const struct power_keys wol_keys;

#endif
