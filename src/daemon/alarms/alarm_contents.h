/* alarm_contents.h: what a message to a target has in it: stored events that go together, or a digest. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_CONTENTS_H
#define BALLAST_DAEMON_ALARMS_ALARM_CONTENTS_H

#include "alarm/message.h"
#include "config/config.h"
#include "engine/engine.h"
#include "store/events.h"

/* Adds a stored event. False: the target did not ask for it. Texts are copied to the arena. */
bool alarm_contents_add(struct alarm_batch *b, const struct config_alarm *t, const struct event_record *r,
                        struct arena *a);

/* The figures and the lines of `ballast status --since`. days: history.days. The message is in the arena. */
int alarm_contents_digest(const struct engine *e, struct store *store, int64_t days,
                          const struct alarm_origin *o, instant_s since, instant_s until, struct arena *a,
                          struct alarm_message *ret, struct err *err);

#endif
