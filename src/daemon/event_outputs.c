/* event_outputs.c: opens, updates and closes the journal, the MQTT feed and the event stream together. */
#include "daemon/event_outputs.h"

int event_outputs_open(const struct config *c, sd_event *loop, struct store *store, struct event_outputs *ret,
                       struct err *err)
{
    int r = journal_open(store, &ret->journal, err);

    if (r < 0)
        return r;
    ret->stream = event_stream_new(store);
    event_stream_set_newest(ret->stream, journal_last(ret->journal));
    return mqtt_feed_start(c, loop, store, journal_last(ret->journal), &ret->mqtt, err);
}

void event_outputs_update(struct event_outputs *o, const struct engine *e, const struct config *c,
                          instant_s now)
{
    mqtt_feed_update(o->mqtt, e, journal_last(o->journal), now);
    mqtt_feed_skip(
        o->mqtt, journal_prune(o->journal, c->history_days, c->history_events, mqtt_feed_sent(o->mqtt), now));
    event_stream_set_newest(o->stream, journal_last(o->journal));
}

const struct mqtt_status *event_outputs_mqtt_status(const struct event_outputs *o, struct mqtt_status *ret)
{
    return mqtt_feed_status(o->mqtt, journal_last(o->journal), ret) ? ret : NULL;
}

int event_outputs_stop(struct event_outputs *o, int64_t deadline_s)
{
    return mqtt_feed_stop(o->mqtt, deadline_s);
}

void event_outputs_release(struct event_outputs *o)
{
    journal_free(o->journal);
    mqtt_feed_free(o->mqtt);
    event_stream_free(o->stream);
}
