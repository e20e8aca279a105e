/* roles.h: reads `roles:`. Inside config only. */
#ifndef BALLAST_CONFIG_ROLES_H
#define BALLAST_CONFIG_ROLES_H

#include "config/section.h"

/* -EINVAL with the line. A user or group that this machine does not know is a warning. */
int config_read_roles(const struct section *s);

/* Of a word of four_eyes.actions: NULL, or the words that are expected. */
const char *config_four_eyes_check(const char *word);

#endif
