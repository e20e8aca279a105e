/* redfish.h: hosts switched, and their draw read, through the Redfish service of their management controller
 * (DMTF DSP0266, the protocol; DSP0268, the schemas). README.md has the calls that are made. */
#ifndef BALLAST_REDFISH_H
#define BALLAST_REDFISH_H

#include <ballast/power.h>

/* Wakes, shuts down, cuts, tells and measures. Addresses begin with https://: a password does not travel
 * unencrypted. */
extern const struct power_method_ops redfish_method;
extern const struct power_keys redfish_keys;

#endif
