/* night.c: when a night of hosts in standby is over. */
#include "schedule/night.h"

#include "schedule/zone.h"

#include <stddef.h>

#define DAY_S 86400
#define HOUR_S 3600

/* The next occurrence of the hour. A day in which the clocks skip it has it an hour later. */
static instant_s next_hour(const char *name, instant_s after)
{
    struct zone *z = name ? zone_open(name) : NULL;
    int64_t local = z ? zone_local(z, after) : after;
    int64_t at = local - local % DAY_S + NIGHT_ENDS_H * HOUR_S;
    instant_s ret = at <= local ? at + DAY_S : at;

    if (z) {
        struct zone_time t;

        zone_instant(z, ret, &t);
        ret = t.at > after ? t.at : t.at + HOUR_S;
    }
    zone_close(z);
    return ret;
}

/* Where the windows close; 0: never. */
static instant_s windows_close(const struct schedule *s, instant_s after)
{
    const struct schedule windows = {.windows = s->windows, .n_windows = s->n_windows, .zone = s->zone};
    struct schedule_state now;

    schedule_at(&windows, after, &now);
    if (!now.open && now.changes != 0)
        schedule_at(&windows, now.changes, &now);
    return now.open ? now.changes : 0;
}

instant_s schedule_night_end(const struct schedule *s, instant_s after)
{
    instant_s at = 0;

    if (s && s->n_ready_by > 0 && schedule_next_ready(s, after, &at))
        return at;
    if (s && s->n_windows > 0 && (at = windows_close(s, after)) != 0)
        return at;
    return next_hour(s ? s->zone : NULL, after);
}
