/* duplicate_controllers.h: finds two hosts of `power:` that are one machine: a power-off of one would switch
 * off the other, with all its VMs. Inside config only. */
#ifndef BALLAST_CONFIG_DUPLICATE_CONTROLLERS_H
#define BALLAST_CONFIG_DUPLICATE_CONTROLLERS_H

#include "config/config.h"

/* The key of y with a controller's address that x has too; NULL: none. A chassis with several systems has one
 * Redfish service for all of them; redfish.system tells them apart. */
const char *duplicate_controllers_key(const struct config_power_host *x, const struct config_power_host *y);

#endif
