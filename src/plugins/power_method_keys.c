/* power_method_keys.c: the keys of all power methods. */
#include "plugins/power_method_keys.h"

#include "actuators/ipmi/ipmi.h"
#include "actuators/redfish/redfish.h"
#include "actuators/wol/wol.h"

const struct power_keys *const power_method_keys[] = {&ipmi_keys, &redfish_keys, &wol_keys, NULL};
