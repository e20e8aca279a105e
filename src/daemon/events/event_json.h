/* event_json.h: an event's members as JSON: the `data` of conf/schema/events.json. */
#ifndef BALLAST_DAEMON_EVENTS_EVENT_JSON_H
#define BALLAST_DAEMON_EVENTS_EVENT_JSON_H

#include "base/strbuf.h"
#include "engine/ports.h"
#include "store/events.h"

/* Adds the object on one line, without a newline. */
void event_json_data(const struct event *ev, struct strbuf *out);

/* The same of EVENT_GAP, for n dropped events. from: the number of the first; 0: they had none yet. */
void event_json_gap(const struct event *ev, uint64_t from, uint64_t n, struct strbuf *out);

/* Adds the type: "action.running", "host.standby", or the kind alone. */
void event_json_type(const struct event *ev, struct strbuf *out);

/* The id of the VM or host concerned; NULL: neither. */
const char *event_json_subject(const struct event *ev);

/* The ids of all that the event is about, each NULL if it has none: the VM; the host, of a move the one that
 * the VM leaves; the host that a VM comes to. */
const char *event_json_vm(const struct event *ev);
const char *event_json_host(const struct event *ev);
const char *event_json_to_host(const struct event *ev);

/* Adds a stored event, as in a reply. */
void event_json_record(const struct event_record *e, struct strbuf *out);

/* Adds {"ok": true, "events": [...], "earlier": N, "next": {"after": ID}}, without a newline. earlier: how
 * many older ones were left out; more: whether newer ones were. */
void event_json_reply(const struct event_record *list, size_t n, uint64_t earlier, bool more,
                      struct strbuf *out);

#endif
