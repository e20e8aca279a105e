/* event_outputs.h: all ways out for what happens: the store and the log (journal.h), a broker (mqtt_feed.h),
 * whoever follows at the socket (event_stream.h). */
#ifndef BALLAST_DAEMON_EVENT_OUTPUTS_H
#define BALLAST_DAEMON_EVENT_OUTPUTS_H

#include "daemon/event_stream.h"
#include "daemon/journal.h"
#include "daemon/mqtt_feed.h"

struct event_outputs {
    struct event_sink *journal;
    struct mqtt_feed *mqtt; /* NULL: no broker */
    struct event_stream *stream;
};

/* To be stopped and released also where it fails. */
int event_outputs_open(const struct config *c, sd_event *loop, struct store *store, struct event_outputs *ret,
                       struct err *err);

/* What was stored of what has happened goes out; what is old goes. */
void event_outputs_update(struct event_outputs *o, const struct engine *e, const struct config *c,
                          instant_s now);

/* Of the broker; NULL where there is none. */
const struct mqtt_status *event_outputs_mqtt_status(const struct event_outputs *o, struct mqtt_status *ret);

/* The broker's part, as mqtt_feed_stop(). The rest is for when nothing happens any more. */
int event_outputs_stop(struct event_outputs *o, int64_t deadline_s);
void event_outputs_release(struct event_outputs *o);

#endif
