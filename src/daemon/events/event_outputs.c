/* event_outputs.c: opens, updates and closes the journal, the feeds and the event stream together. */
#include "daemon/events/event_outputs.h"

int event_outputs_open(const struct config *c, const struct alarm_feed_options *options, instant_s now,
                       struct event_outputs *ret, struct err *err)
{
    struct store *store = options->store;
    int r = journal_open(store, &ret->journal, err);

    if (r < 0)
        return r;
    ret->stream = event_stream_new(store);
    event_stream_set_newest(ret->stream, journal_last(ret->journal));
    r = mqtt_feed_start(c, options->loop, store, journal_last(ret->journal), &ret->mqtt, err);
    return r < 0 ? r : alarm_feed_start(c, options, journal_last(ret->journal), now, &ret->alarms, err);
}

void event_outputs_update(struct event_outputs *o, struct engine *e, const struct config *c, instant_s now)
{
    alarm_feed_update(o->alarms, e, c, journal_last(o->journal), now);
    mqtt_feed_update(o->mqtt, e, journal_last(o->journal), now);

    const uint64_t mqtt = mqtt_feed_sent(o->mqtt), alarms = alarm_feed_sent(o->alarms);
    const uint64_t gone = journal_prune(o->journal, c->history_days, c->history_events,
                                        mqtt < alarms ? mqtt : alarms, engine_pruned(e), now);

    mqtt_feed_skip(o->mqtt, gone);
    alarm_feed_skip(o->alarms, gone);
    event_stream_set_newest(o->stream, journal_last(o->journal));
}

const struct mqtt_status *event_outputs_mqtt_status(const struct event_outputs *o, struct mqtt_status *ret)
{
    return mqtt_feed_status(o->mqtt, journal_last(o->journal), ret) ? ret : NULL;
}

int event_outputs_stop(struct event_outputs *o, int64_t deadline_s)
{
    int mqtt = mqtt_feed_stop(o->mqtt, deadline_s);
    int alarms = alarm_feed_stop(o->alarms, deadline_s);

    return mqtt < 0 ? mqtt : alarms;
}

void event_outputs_release(struct event_outputs *o)
{
    journal_free(o->journal);
    mqtt_feed_free(o->mqtt);
    alarm_feed_free(o->alarms);
    event_stream_free(o->stream);
}
