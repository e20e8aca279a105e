/* schedule.h: when hosts may be put to standby, and by when they must be back.
 *
 * A window is a calendar expression for when it begins and a time span for how long it lasts: "Mon..Fri 20:00
 * for 10h". Hosts may be put to standby within any of them; without windows, always. A ready_by is a calendar
 * expression for the instants by which capacity must be on again. From such an instant on nothing may be put
 * to standby until a window begins, whatever window is open; where there are no windows, for SCHEDULE_HOLD_S.
 *
 * Pure: `now` is an argument. Everything lives in the arena that it was parsed into. */
#ifndef BALLAST_SCHEDULE_SCHEDULE_H
#define BALLAST_SCHEDULE_SCHEDULE_H

#include "schedule/calendar.h"

#include <stdint.h>

/* Longer than the 40 minutes of load that power-off evaluates, so that all of that load came after ready_by.
 */
#define SCHEDULE_HOLD_S 3600

struct schedule_window {
    struct calendar begins;
    int64_t span_s;
    const char *text; /* as it was written */
};

struct schedule {
    const struct schedule_window *windows;
    uint32_t n_windows; /* 0: hosts may always be put to standby */
    const struct calendar *ready_by;
    uint32_t n_ready_by;
    double ready_percent; /* of the capacity that DPM may manage */
    const char *zone;     /* of what names none */
};

/* "Mon..Fri 20:00 for 10h". -EINVAL with a sentence. */
int schedule_window_parse(const char *text, const char *zone, struct arena *a, struct schedule_window *ret,
                          struct err *err);

/* The schedule at one moment. */
struct schedule_state {
    bool power_off;     /* hosts may be put to standby */
    instant_s changes;  /* when that is over, or begins; 0: never, or not within two months */
    instant_s ready_by; /* the next one; 0: none. One that has passed less than SCHEDULE_HOLD_S ago, and since
                         * which no window has begun: what was late must still come */
};

void schedule_at(const struct schedule *s, instant_s now, struct schedule_state *ret);

/* The first ready_by after the instant; false: there is none. */
bool schedule_next_ready(const struct schedule *s, instant_s after, instant_s *ret);

#endif
