/* power_method_keys.h: the power methods, as the configuration knows them. */
#ifndef BALLAST_PLUGINS_POWER_METHOD_KEYS_H
#define BALLAST_PLUGINS_POWER_METHOD_KEYS_H

#include <ballast/power.h>

/* Those that have keys, NULL at the end. */
extern const struct power_keys *const power_method_keys[];

#endif
