/* night.h: when a night of hosts in standby is over. */
#ifndef BALLAST_SCHEDULE_NIGHT_H
#define BALLAST_SCHEDULE_NIGHT_H

#include "schedule/schedule.h"

#define NIGHT_ENDS_H 8 /* the local hour, without a schedule */

/* The first end after the instant: the next ready_by; without one, where the windows that are open then, or
 * open next, close; without windows, and where they never close, at NIGHT_ENDS_H in the schedule's zone. s:
 * NULL: none, and UTC. */
instant_s schedule_night_end(const struct schedule *s, instant_s after);

#endif
