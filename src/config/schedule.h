/* schedule.h: from dpm.windows, dpm.ready_by, dpm.time_zone and dpm.ready_percent, which are read like all
 * others, to the schedule that they mean. Inside config only. */
#ifndef BALLAST_CONFIG_SCHEDULE_H
#define BALLAST_CONFIG_SCHEDULE_H

#include "config/section.h"

/* -EINVAL with the line of the expression that is wrong. */
int config_read_schedule(const struct section *s);

#endif
