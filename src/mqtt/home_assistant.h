/* home_assistant.h: what makes Home Assistant show the cluster and its hosts: a retained message for each
 * device, on PREFIX/device/ID/config (MQTT device discovery, since its version 2024.12; it needs one message
 * a device where the older form needs one for each of its values):
 * https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload
 *
 * The values come from the retained states (topic.h), by templates; a host is shown as connected via its
 * cluster. An empty message removes the device. IDs have letters, digits, - and _ only: _ and all other
 * bytes become _XX, so that __ separates topic, cluster and host. */
#ifndef BALLAST_MQTT_HOME_ASSISTANT_H
#define BALLAST_MQTT_HOME_ASSISTANT_H

#include "mqtt/topic.h"

#include <stdbool.h>

#define HOME_ASSISTANT_PREFIX "homeassistant" /* unless an admin has changed it there */

struct home_assistant {
    const char *prefix;
    struct topics topics;
    bool pausable; /* the commands pause and resume are enabled: a switch instead of a sensor */
};

/* Adds the topic of a host, or with NULL of the cluster. */
void home_assistant_topic(const struct home_assistant *ha, const char *host, struct strbuf *out);

/* Adds the message. name: of the host, whose id stands for an empty one; not used for the cluster. */
void home_assistant_config(const struct home_assistant *ha, const char *host, const char *name,
                           struct strbuf *out);

#endif
