/* alarms.h: reads `alarms:`. Inside config only. */
#ifndef BALLAST_CONFIG_ALARMS_H
#define BALLAST_CONFIG_ALARMS_H

#include "config/section.h"

/* -EINVAL with the line. After config_read_schedule(), whose time zone is that of digests. */
int config_read_alarms(const struct section *s);

/* Whether a secret of a target that both have differs. */
bool config_alarm_secrets_changed(const struct config *old, const struct config *now);

#endif
