/* power_methods_check.h: checks of power methods that need no network. Inside config only. */
#ifndef BALLAST_CONFIG_POWER_METHODS_CHECK_H
#define BALLAST_CONFIG_POWER_METHODS_CHECK_H

#include "config/section.h"

/* Checks one host, or the defaults. -EINVAL with the line if it cannot work; warnings about risks. */
int power_methods_check(const struct section *s, const struct power_host *h);

#endif
