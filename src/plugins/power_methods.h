/* power_methods.h: every power method that is compiled in. */
#ifndef BALLAST_PLUGINS_POWER_METHODS_H
#define BALLAST_PLUGINS_POWER_METHODS_H

#include <ballast/power.h>

/* By kind. NULL: POWER_HYPERVISOR, which is the source's own actuator. */
extern const struct power_method_ops *const power_methods[POWER_METHOD_COUNT];

#endif
