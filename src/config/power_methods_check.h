/* power_methods_check.h: what can be told of the ways to a host before anything is sent. Inside config only.
 */
#ifndef BALLAST_CONFIG_POWER_METHODS_CHECK_H
#define BALLAST_CONFIG_POWER_METHODS_CHECK_H

#include "config/section.h"

/* One entry, or the defaults. -EINVAL with the line: what could never work. Warnings: what is a bad idea. */
int power_methods_check(const struct section *s, const struct power_host *h);

#endif
