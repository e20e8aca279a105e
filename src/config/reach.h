/* reach.h: what can be told of the ways to a host before anything is sent. Inside config only. */
#ifndef BALLAST_CONFIG_REACH_H
#define BALLAST_CONFIG_REACH_H

#include "config/read.h"

/* One entry, or the defaults; line is where it begins. -EINVAL with the line: what could never work.
 * Warnings: what is a bad idea. */
int reach_check(const struct reader *r, const struct config_power_host *h, unsigned line);

#endif
