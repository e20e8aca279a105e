/* event_json.h: what an event says, as JSON: the `data` of src/mqtt/README.md. */
#ifndef BALLAST_DAEMON_EVENT_JSON_H
#define BALLAST_DAEMON_EVENT_JSON_H

#include "base/strbuf.h"
#include "engine/ports.h"
#include "store/events.h"

/* The object on one line, without its end. */
void event_json_data(const struct event *ev, struct strbuf *out);

/* "action.running", "host.standby", or the kind alone. */
void event_json_type(const struct event *ev, struct strbuf *out);

/* The id of the VM or host that it is about; NULL. */
const char *event_json_subject(const struct event *ev);

/* {"ok": true, "events": [...]}, without an end. */
void event_json_reply(const struct event_record *list, size_t n, struct strbuf *out);

#endif
