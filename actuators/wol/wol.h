/* wol.h: hosts woken by a magic packet (AMD's "Magic Packet Technology", publication 20213), from here or
 * from a relay in their segment. Nobody answers such a packet: that it was sent is all that can be said.
 * README.md has what a relay needs. */
#ifndef BALLAST_WOL_H
#define BALLAST_WOL_H

#include <ballast/power.h>

/* Only wakes. */
extern const struct power_method_ops wol_method;

#endif
