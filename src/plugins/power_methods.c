/* power_methods.c: the list of power methods. */
#include "plugins/power_methods.h"

#include "actuators/ipmi/ipmi.h"
#include "actuators/redfish/redfish.h"
#include "actuators/wol/network.h"
#include "actuators/wol/relay_network.h"
#include "actuators/wol/wol.h"

const struct power_method_ops *const power_methods[POWER_METHOD_COUNT] = {
    [POWER_IPMI] = &ipmi_method, [POWER_REDFISH] = &redfish_method, [POWER_WOL] = &wol_method};

int power_methods_check_network(const struct power_host *host, struct err *err)
{
    return wol_check_network(host, err);
}

int power_methods_check_relay(const struct power_host *host, struct err *err)
{
    return wol_check_relay(host, err);
}
