/* wall_clock.c: the time given to the engine, and whether the machine's clock was set since the start. */
#include "daemon/wall_clock.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/process.h"
#include "daemon/threads/power_setup.h"

#include <math.h>

#define SET_S 10 /* smaller changes are ignored, such as a leap second */

static int64_t epoch_now_us(void)
{
    return clock_us(CLOCK_REALTIME) - process_steady_us();
}

void wall_clock_start(struct wall_clock *d)
{
    *d = (struct wall_clock){.epoch_us = epoch_now_us()};
}

instant_s wall_clock_now(const struct wall_clock *d)
{
    return (d->epoch_us + process_steady_us()) / (int64_t)USEC_PER_S;
}

bool wall_clock_was_set(struct wall_clock *d, const char *config_path)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    long long by_s = llround((double)(epoch_now_us() - d->epoch_us) / (double)USEC_PER_S);
    struct config *fresh = arena_new(&a, struct config);
    struct err err = {0};

    if (by_s < SET_S && by_s > -SET_S)
        return false;
    if (config_load(config_path, &a, fresh, &err) == 0 && power_setup_check(fresh, &err) == 0) {
        log_notice("the clock was set by %lld s: restarting the service", by_s);
        return true;
    }
    if (!d->set_was_logged)
        log_error("the clock was set by %lld s; the service keeps the time from before, because it could not "
                  "restart: %s",
                  by_s, err.text);
    d->set_was_logged = true;
    return false;
}
