/* subscribers.c: passes each event of the engine to the journal, the consoles and the metrics. */
#include "daemon/events/subscribers.h"

#include "daemon/events/journal.h"

static const struct subscribers *subscribers_of(struct event_sink *o)
{
    return (const struct subscribers *)o;
}

static void subscribers_publish(struct event_sink *o, const struct event *ev)
{
    journal_sink.publish(subscribers_of(o)->journal, ev);
    consoles_on_event(subscribers_of(o)->consoles, ev);
    metrics_on_event(subscribers_of(o)->metrics, ev);
}

static int subscribers_keep(struct event_sink *o, struct err *err)
{
    return journal_sink.keep(subscribers_of(o)->journal, err);
}

static void subscribers_kept(struct event_sink *o)
{
    journal_sink.kept(subscribers_of(o)->journal);
}

const struct event_sink_ops subscribers_sink = {
    .publish = subscribers_publish, .keep = subscribers_keep, .kept = subscribers_kept};
