/* power_methods.h: every power method that is compiled in. */
#ifndef BALLAST_PLUGINS_POWER_METHODS_H
#define BALLAST_PLUGINS_POWER_METHODS_H

#include <ballast/power.h>

/* By kind. NULL: POWER_HYPERVISOR, which is the source's own actuator. */
extern const struct power_method_ops *const power_methods[POWER_METHOD_COUNT];

/* power_account() of actuators/power/power.h. */
#define POWER_METHODS_ACCOUNT_MAX 512
bool power_methods_account(const struct power_host *host, enum power_method_kind kind,
                           char ret[POWER_METHODS_ACCOUNT_MAX]);

/* Whether what wakes the host can leave this machine, by its interfaces and routes (actuators/wol/network.h);
 * asks no peer. */
int power_methods_check_network(const struct power_host *host, struct err *err);

/* Whether it can leave the relay, which is asked (actuators/wol/relay_network.h). */
int power_methods_check_relay(const struct power_host *host, struct err *err);

#endif
