/* schedule.h: from balance.windows, and from dpm.windows, dpm.ready_by, dpm.time_zone and dpm.ready_percent
 * to the schedule that they define. Inside config only. */
#ifndef BALLAST_CONFIG_SCHEDULE_H
#define BALLAST_CONFIG_SCHEDULE_H

#include "config/section.h"

/* -EINVAL with the line of the wrong expression. use: what a window is for,
 * "to move VMs off a host", as far as that takes some minutes; NULL: a short one is no mistake. Warns of a
 * window that does not begin any more. */
int config_read_windows(const struct section *s, const struct node *list, const char *key, const char *use,
                        struct schedule *ret);
int config_read_schedule(const struct section *s);

#endif
