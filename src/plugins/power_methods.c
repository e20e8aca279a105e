/* power_methods.c: the list of power methods. */
#include "plugins/power_methods.h"

#include "actuators/ipmi/ipmi.h"
#include "actuators/power/power.h"
#include "actuators/redfish/redfish.h"
#include "actuators/wol/network.h"
#include "actuators/wol/relay_network.h"
#include "actuators/wol/wol.h"

const struct power_method_ops *const power_methods[POWER_METHOD_COUNT] = {
    [POWER_IPMI] = &ipmi_method, [POWER_REDFISH] = &redfish_method, [POWER_WOL] = &wol_method};

_Static_assert(POWER_METHODS_ACCOUNT_MAX == POWER_ACCOUNT_MAX, "one size");

bool power_methods_account(const struct power_host *host, enum power_method_kind kind,
                           char ret[POWER_METHODS_ACCOUNT_MAX])
{
    return power_account(host, kind, ret);
}

int power_methods_check_network(const struct power_host *host, struct err *err)
{
    return wol_check_network(host, err);
}

int power_methods_check_relay(const struct power_host *host, struct err *err)
{
    return wol_check_relay(host, err);
}
