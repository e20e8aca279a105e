#include "daemon/daytime.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/process.h"
#include "daemon/switches.h"

#include <math.h>

#define SET_S 10 /* what it may be set by before it matters; a leap second is none */

static int64_t epoch_now_us(void)
{
    return read_clock_us(CLOCK_REALTIME) - steady_us();
}

void daytime_begin(struct daytime *d)
{
    *d = (struct daytime){.epoch_us = epoch_now_us()};
}

instant_s daytime_now(const struct daytime *d)
{
    return (d->epoch_us + steady_us()) / (int64_t)USEC_PER_S;
}

bool daytime_was_set(struct daytime *d, const char *config_path)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    long long by_s = llround((double)(epoch_now_us() - d->epoch_us) / (double)USEC_PER_S);
    struct config *fresh = arena_new(&a, struct config);
    struct err err = {0};

    if (by_s < SET_S && by_s > -SET_S)
        return false;
    if (config_load(config_path, &a, fresh, &err) == 0 && switches_check(fresh, &err) == 0) {
        log_notice("the clock was set by %lld s: beginning anew", by_s);
        return true;
    }
    if (!d->told)
        log_error(
            "the clock was set by %lld s, and the time from before goes on, because the service could not "
            "begin anew: %s",
            by_s, err.text);
    d->told = true;
    return false;
}
