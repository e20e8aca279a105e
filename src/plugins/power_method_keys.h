/* power_method_keys.h: the configuration keys of the power methods. */
#ifndef BALLAST_PLUGINS_POWER_METHOD_KEYS_H
#define BALLAST_PLUGINS_POWER_METHOD_KEYS_H

#include <ballast/power.h>

/* The methods with keys, NULL at the end. */
extern const struct power_keys *const power_method_keys[];

#endif
