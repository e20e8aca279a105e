/* event_outputs.h: all outputs of events: store and log (journal.h), MQTT broker (mqtt_feed.h), targets of
 * alarms (alarm_feed.h), clients that follow at the socket (event_stream.h). */
#ifndef BALLAST_DAEMON_EVENTS_EVENT_OUTPUTS_H
#define BALLAST_DAEMON_EVENTS_EVENT_OUTPUTS_H

#include "daemon/alarms/alarm_feed.h"
#include "daemon/events/event_stream.h"
#include "daemon/events/journal.h"
#include "daemon/mqtt/mqtt_feed.h"

struct event_outputs {
    struct event_sink *journal;
    struct mqtt_feed *mqtt; /* NULL: no broker */
    struct alarm_feed *alarms;
    struct event_stream *stream;
};

/* wake: calls event_outputs_update(). After a failure it must be stopped and released all the same. */
int event_outputs_open(const struct config *c, const struct alarm_feed_options *options, instant_s now,
                       struct event_outputs *ret, struct err *err);

/* Sends stored events to the broker and the targets of alarms, and prunes old ones. */
void event_outputs_update(struct event_outputs *o, struct engine *e, const struct config *c, instant_s now);

/* The broker connection's status; NULL without a broker. */
const struct mqtt_status *event_outputs_mqtt_status(const struct event_outputs *o, struct mqtt_status *ret);

/* Stops the feeds, as mqtt_feed_stop(). Call event_outputs_release() after the last event. */
int event_outputs_stop(struct event_outputs *o, int64_t deadline_s);
void event_outputs_release(struct event_outputs *o);

#endif
