/* wall_clock.h: the time that the engine is set_was_logged: the time of day as it was when the service began,
 * and a steady clock from there on.
 *
 * So no deadline passes at once, and none is hours away, because somebody has set the clock. But windows and
 * ready_by are hours of the day: where it was set by more than a few seconds the service has to begin anew,
 * which every part of it is made for. That a clock is merely slowed down or sped up until it is right is no
 * matter: the steady one goes along. */
#ifndef BALLAST_DAEMON_WALL_CLOCK_H
#define BALLAST_DAEMON_WALL_CLOCK_H

#include <ballast/units.h>

#include <stdbool.h>
#include <stdint.h>

struct wall_clock {
    int64_t epoch_us;    /* the time of day when the steady clock was 0 */
    bool set_was_logged; /* that it was set, and the configuration stood in the way */
};

void wall_clock_start(struct wall_clock *d);
instant_s wall_clock_now(const struct wall_clock *d);

/* Whether the time of day was set since then, so that the service is to begin anew, with the configuration in
 * that file, all of it: as long as that is wrong, or no reload would take it, it had better not, and the old
 * time goes on. Says what it finds. */
bool wall_clock_was_set(struct wall_clock *d, const char *config_path);

#endif
