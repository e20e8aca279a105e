/* mqtt.h: what the keys of `mqtt:` mean together. Inside config only. */
#ifndef BALLAST_CONFIG_MQTT_H
#define BALLAST_CONFIG_MQTT_H

#include "config/section.h"

/* Takes the url apart, reads the password, and checks what one key alone cannot tell. -EINVAL with the line.
 */
int config_check_mqtt(const struct section *s, const struct schema *keys);

#endif
