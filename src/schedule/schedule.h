/* schedule.h: windows of time, and instants that close them. Used for the windows in which hosts may be put
 * to standby with the instants by which capacity must be on (dpm), those in which optional moves are carried
 * out (balance.windows), and those in which VMs are not moved (no_moves).
 *
 * A window is a calendar expression for its begin and a time span for its length: "Mon..Fri 20:00 for 10h".
 * DPM may put hosts to standby inside any window; without windows, always. ready_by is a calendar expression
 * for the instants by which capacity must be on again. After such an instant no host is put to standby until
 * a window begins, even if a window is open; without windows, for SCHEDULE_HOLD_S.
 *
 * Pure: `now` is an argument. All data is in the arena passed to the parser. */
#ifndef BALLAST_SCHEDULE_SCHEDULE_H
#define BALLAST_SCHEDULE_SCHEDULE_H

#include "schedule/calendar.h"

#include <stdint.h>

/* Longer than the 40 minutes of load that power-off evaluates, so that all of that load is from after
 * ready_by. */
#define SCHEDULE_HOLD_S 3600

struct schedule_window {
    struct calendar begins;
    int64_t span_s;
    const char *text; /* as the user wrote it */
};

struct schedule {
    const struct schedule_window *windows;
    uint32_t n_windows; /* 0: hosts may always be put to standby */
    bool protects; /* its windows keep something from happening (no_moves): one that begins at a time that
                    * the clocks skip begins right after that; others do not begin that day */
    const struct calendar *ready_by;
    uint32_t n_ready_by;
    int64_t prove_every_s; /* a wake of each host is due this long after the newest one; 0: not asked for */
    double ready_percent;  /* percent of the capacity that DPM manages */
    const char *zone;      /* for expressions that name no zone */
};

/* "Mon..Fri 20:00 for 10h". -EINVAL with a sentence. */
int schedule_window_parse(const char *text, const char *zone, struct arena *a, struct schedule_window *ret,
                          struct err *err);

/* The schedule at one instant. */
struct schedule_state {
    bool open;          /* inside a window, or there are none */
    instant_s changes;  /* the next change of `open`; 0: never, or not within two months */
    instant_s ready_by; /* the next one; 0: none. An instant less than SCHEDULE_HOLD_S ago counts while no
                         * window has begun since: late hosts are still needed */
};

void schedule_at(const struct schedule *s, instant_s now, struct schedule_state *ret);

/* The first ready_by after the instant; false: none. */
bool schedule_next_ready(const struct schedule *s, instant_s after, instant_s *ret);

#endif
