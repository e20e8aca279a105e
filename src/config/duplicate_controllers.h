/* duplicate_controllers.h: whether two hosts of `power:` are one machine. Whoever switches one of them would
 * switch the other, with all that runs there. Inside config only. */
#ifndef BALLAST_CONFIG_DUPLICATE_CONTROLLERS_H
#define BALLAST_CONFIG_DUPLICATE_CONTROLLERS_H

#include "config/config.h"

/* The key of y that says so of both; NULL: none does. A chassis with several systems has one Redfish service
 * for all of them, which are told apart by redfish.system. */
const char *duplicate_controllers_key(const struct config_power_host *x, const struct config_power_host *y);

#endif
