/* events.h: what has happened, out of the engine's port for events. */
#ifndef BALLAST_ENGINE_EVENTS_H
#define BALLAST_ENGINE_EVENTS_H

#include "engine/ports.h"

struct engine;

/* Names come from the newest snapshot where the event has none of its own. */
void events_publish(struct engine *e, const struct event *event);

#endif
