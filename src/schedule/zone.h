/* zone.h: converts between instants and local time, by IANA time zone, with ICU's rules.
 *
 * Local time is counted in seconds since 1970-01-01T00:00:00 local time ("local seconds"), so that dates are
 * arithmetic (base/civil.h). */
#ifndef BALLAST_SCHEDULE_ZONE_H
#define BALLAST_SCHEDULE_ZONE_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/units.h>

#include <stdbool.h>

#define ZONE_UTC "UTC"
#define ZONE_NAME_MAX 64 /* bytes, with the NUL */

/* Whether the zone exists: an IANA name ("Europe/Berlin"), or UTC. */
bool zone_is_known(const char *name);

/* The machine's zone, by TZ or /etc/localtime; UTC if neither names a known zone. */
const char *zone_of_system(struct arena *a);

/* An open zone; used by one thread at a time. */
struct zone;

/* The name must be known. NULL: ICU's data cannot be read. */
struct zone *zone_open(const char *name);
void zone_close(struct zone *z);
static inline void zone_closep(struct zone **z)
{
    zone_close(*z);
}

/* The local seconds of an instant. */
int64_t zone_local(struct zone *z, instant_s t);

/* How often a local time occurs. Normally once. When clocks are set forward, some never occur (ZONE_GAP);
 * when clocks are set back, some occur twice, and `at` is the first of the two. */
enum zone_kind { ZONE_ONCE, ZONE_TWICE, ZONE_GAP };

struct zone_time {
    enum zone_kind kind;
    instant_s at; /* ZONE_GAP: by the clocks as they are after the change, so before it */
    int64_t first,
        end; /* ZONE_TWICE, ZONE_GAP: the local seconds that occur twice, or never: first <= local < end */
};

void zone_instant(struct zone *z, int64_t local, struct zone_time *ret);

#define ZONE_TEXT_MAX 48

/* "Mon 2026-11-23 07:30:00 +01:00"; returns ret. */
const char *zone_text(const char *name, instant_s t, char ret[ZONE_TEXT_MAX]);

#endif
