/* mqtt.h: the keys of `mqtt:` that depend on each other. Inside config only. */
#ifndef BALLAST_CONFIG_MQTT_H
#define BALLAST_CONFIG_MQTT_H

#include "config/section.h"

/* Splits the url, reads the password, and makes the checks that need several keys. -EINVAL with the line. */
/* A word of mqtt.commands; see field_check. */
const char *config_mqtt_command_check(const char *word);

int config_check_mqtt(const struct section *s, const struct schema *keys);

#endif
