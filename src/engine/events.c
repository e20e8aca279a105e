/* events.c: the words of events, and their way out. */
#include "engine/events.h"

#include "engine/persist.h"
#include "engine/state.h"

#include <errno.h>
#include <string.h>

static const char *const event_words[event_kind_count] = {
#define EVENT_WORD(e, word, meaning) [e] = (word),
    EVENTS(EVENT_WORD)};
static const char *const event_meanings[event_kind_count] = {
#define EVENT_MEANING(e, word, meaning) [e] = (meaning),
    EVENTS(EVENT_MEANING)};

const char *event_kind_name(enum event_kind kind)
{
    return (unsigned)kind < event_kind_count ? event_words[kind] : "?";
}

const char *event_kind_meaning(enum event_kind kind)
{
    return (unsigned)kind < event_kind_count ? event_meanings[kind] : "?";
}

int event_kind_parse(const char *word, enum event_kind *ret)
{
    for (size_t i = 0; i < event_kind_count; i++) {
        if (strcmp(event_words[i], word) == 0) {
            *ret = (enum event_kind)i;
            return 0;
        }
    }
    return -EINVAL;
}

void events_publish(struct engine *e, const struct event *event)
{
    struct event whole = *event;

    if (!whole.snapshot)
        whole.snapshot = engine_snapshot(e);
    e->port.event_sink_ops->publish(e->port.event_sink, &whole);
    e->persist->events_dirty = e->port.event_sink_ops->keep != NULL;
}
