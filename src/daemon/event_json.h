/* event_json.h: an event's members as JSON: the `data` of src/mqtt/README.md. */
#ifndef BALLAST_DAEMON_EVENT_JSON_H
#define BALLAST_DAEMON_EVENT_JSON_H

#include "base/strbuf.h"
#include "engine/ports.h"
#include "store/events.h"

/* Adds the object on one line, without a newline. */
void event_json_data(const struct event *ev, struct strbuf *out);

/* Adds the type: "action.running", "host.standby", or the kind alone. */
void event_json_type(const struct event *ev, struct strbuf *out);

/* The id of the VM or host concerned; NULL: neither. */
const char *event_json_subject(const struct event *ev);

/* Adds {"ok": true, "events": [...]}, without a newline. */
void event_json_reply(const struct event_record *list, size_t n, struct strbuf *out);

#endif
