/* events.c: the way of events out of the engine. */
#include "engine/events.h"

#include "engine/persist.h"
#include "engine/state.h"

void events_publish(struct engine *e, const struct event *event)
{
    struct event whole = *event;

    if (!whole.snapshot)
        whole.snapshot = engine_snapshot(e);
    e->port.event_sink_ops->publish(e->port.event_sink, &whole);
    e->persist->events_dirty = e->port.event_sink_ops->keep != NULL;
}
