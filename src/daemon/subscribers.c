#include "daemon/subscribers.h"

#include "daemon/journal.h"

static const struct subscribers *of(struct event_sink *o)
{
    return (const struct subscribers *)o;
}

static void publish(struct event_sink *o, const struct event *ev)
{
    journal_sink.publish(of(o)->journal, ev);
    consoles_hear(of(o)->consoles, ev);
}

static int keep(struct event_sink *o, struct err *err)
{
    return journal_sink.keep(of(o)->journal, err);
}

static void kept(struct event_sink *o)
{
    journal_sink.kept(of(o)->journal);
}

const struct event_sink_ops subscribers_sink = {.publish = publish, .keep = keep, .kept = kept};
