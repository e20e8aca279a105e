/* alarm_batch.h: adds a stored event to the events that go to a target together. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_BATCH_H
#define BALLAST_DAEMON_ALARMS_ALARM_BATCH_H

#include "alarm/message.h"
#include "config/config.h"
#include "store/events.h"

#include <stdbool.h>

/* False: the target did not ask for it. Texts are copied to the arena. */
bool alarm_batch_take(struct alarm_batch *b, const struct config_alarm *t, const struct event_record *r,
                      struct arena *a);

#endif
