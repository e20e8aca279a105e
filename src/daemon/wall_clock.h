/* wall_clock.h: the engine's time: the time of day at the start plus a clock that cannot be set.
 *
 * So setting the machine's clock neither ends a deadline at once nor delays it by hours. But windows and
 * ready_by are hours of the day: when the clock is set by more than a few seconds, the service restarts. A
 * clock adjusted gradually by NTP needs no restart: the steady clock follows it. */
#ifndef BALLAST_DAEMON_WALL_CLOCK_H
#define BALLAST_DAEMON_WALL_CLOCK_H

#include <ballast/units.h>

#include <stdbool.h>
#include <stdint.h>

struct wall_clock {
    int64_t epoch_us;    /* the time of day at 0 of the steady clock */
    bool set_was_logged; /* the log has the set clock, and that the configuration prevents a restart */
};

void wall_clock_start(struct wall_clock *d);
instant_s wall_clock_now(const struct wall_clock *d);

/* Whether the clock was set since the start, so that the service must restart with the configuration in that
 * file. False while that configuration is wrong or a reload would refuse it: the old time stays in use. Logs
 * the result. */
bool wall_clock_was_set(struct wall_clock *d, const char *config_path);

#endif
