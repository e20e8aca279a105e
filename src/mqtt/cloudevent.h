/* cloudevent.h: an event in CloudEvents 1.0, structured content mode (the JSON event format).
 *
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md, and for the content
 * type bindings/mqtt-protocol-binding.md, section 3.2. */
#ifndef BALLAST_MQTT_CLOUDEVENT_H
#define BALLAST_MQTT_CLOUDEVENT_H

#include "base/strbuf.h"

#include <ballast/units.h>

#define CLOUDEVENT_CONTENT_TYPE "application/cloudevents+json"
#define CLOUDEVENT_TYPE_PREFIX "io.ballast."

struct cloudevent {
    const char *id;      /* unique together with the source */
    const char *source;  /* a URI reference: "/ballast/CLUSTER" */
    const char *type;    /* without the prefix: "action.running" */
    const char *subject; /* NULL: none */
    instant_s time;
    const char *data; /* JSON */
};

/* Adds the envelope and its data as one line without a newline. */
void cloudevent_json(const struct cloudevent *ce, struct strbuf *out);

#endif
