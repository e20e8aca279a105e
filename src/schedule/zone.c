/* zone.c: converts between local time and instants with ICU. */
#include "schedule/zone.h"

#include "base/civil.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unicode/ucal.h>
#include <unicode/ustring.h>

#define MS_PER_S 1000
#define S_PER_DAY 86400

struct zone {
    UCalendar *calendar;
};

static bool to_utf16(const char *name, UChar ret[ZONE_NAME_MAX])
{
    if (strlen(name) >= ZONE_NAME_MAX)
        return false;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            return false;
    (void)u_uastrcpy(ret, name);
    return true;
}

bool zone_is_known(const char *name)
{
    UErrorCode e = U_ZERO_ERROR;
    UChar id[ZONE_NAME_MAX];
    UChar canonical[ZONE_NAME_MAX];
    UBool of_system = 0;

    if (!to_utf16(name, id) || name[0] == '\0')
        return false;
    (void)ucal_getCanonicalTimeZoneID(id, -1, canonical, ZONE_NAME_MAX, &of_system, &e);
    return U_SUCCESS(e) && of_system && strcmp(name, UCAL_UNKNOWN_ZONE_ID) != 0;
}

const char *zone_of_system(struct arena *a)
{
    UErrorCode e = U_ZERO_ERROR;
    UChar id[ZONE_NAME_MAX];
    char name[ZONE_NAME_MAX];
    int32_t n = ucal_getDefaultTimeZone(id, ZONE_NAME_MAX, &e);

    if (U_FAILURE(e) || n <= 0 || n >= ZONE_NAME_MAX)
        return ZONE_UTC;
    (void)u_austrcpy(name, id);
    return zone_is_known(name) ? arena_strdup(a, name) : ZONE_UTC;
}

struct zone *zone_open(const char *name)
{
    UErrorCode e = U_ZERO_ERROR;
    UChar id[ZONE_NAME_MAX];
    struct zone *z = to_utf16(name, id) ? xcalloc(1, sizeof *z) : NULL;

    if (!z)
        return NULL;
    z->calendar = ucal_open(id, -1, "en_US", UCAL_GREGORIAN, &e);
    if (U_FAILURE(e)) {
        free(z);
        return NULL;
    }
    return z;
}

void zone_close(struct zone *z)
{
    if (!z)
        return;
    ucal_close(z->calendar);
    free(z);
}

/* The zone's offset, in seconds east of UTC. */
static int64_t offset_at(struct zone *z, instant_s t)
{
    UErrorCode e = U_ZERO_ERROR;

    ucal_setMillis(z->calendar, (UDate)t * MS_PER_S, &e);
    int32_t raw = ucal_get(z->calendar, UCAL_ZONE_OFFSET, &e);
    int32_t dst = ucal_get(z->calendar, UCAL_DST_OFFSET, &e);

    return U_SUCCESS(e) ? (raw + dst) / MS_PER_S : 0;
}

int64_t zone_local(struct zone *z, instant_s t)
{
    return t + offset_at(z, t);
}

/* The offset of a local time; around a change of clocks, the offset before the change. */
static int64_t offset_before(struct zone *z, int64_t local)
{
    UErrorCode e = U_ZERO_ERROR;
    int32_t raw = 0;
    int32_t dst = 0;

    ucal_setMillis(z->calendar, (UDate)local * MS_PER_S, &e);
    ucal_getTimeZoneOffsetFromLocal(z->calendar, UCAL_TZ_LOCAL_FORMER, UCAL_TZ_LOCAL_FORMER, &raw, &dst, &e);
    return U_SUCCESS(e) ? (raw + dst) / MS_PER_S : 0;
}

/* The last change of clocks at or before the instant. */
static bool last_change(struct zone *z, instant_s t, instant_s *ret)
{
    UErrorCode e = U_ZERO_ERROR;
    UDate at = 0;

    ucal_setMillis(z->calendar, (UDate)t * MS_PER_S, &e);
    if (!ucal_getTimeZoneTransitionDate(z->calendar, UCAL_TZ_TRANSITION_PREVIOUS_INCLUSIVE, &at, &e) ||
        U_FAILURE(e))
        return false;
    *ret = (instant_s)(at / MS_PER_S);
    return true;
}

/* Skips transitions of ICU that do not move the clocks: a new name, or another share of daylight saving. */
void zone_instant(struct zone *z, int64_t local, struct zone_time *ret)
{
    int64_t before = offset_before(z, local);
    instant_s at = local - before;
    int64_t after = offset_at(z, at);
    instant_s change = 0;

    *ret = (struct zone_time){.kind = ZONE_ONCE, .at = at};
    if (after != before) { /* the clocks were set forward between the two */
        if (last_change(z, at, &change))
            *ret = (struct zone_time){
                .kind = ZONE_GAP, .at = local - after, .first = change + before, .end = change + after};
        return;
    }
    /* the time occurs twice if the next change sets the clocks back beyond it */
    UErrorCode e = U_ZERO_ERROR;
    UDate next = 0;

    ucal_setMillis(z->calendar, (UDate)at * MS_PER_S, &e);
    if (!ucal_getTimeZoneTransitionDate(z->calendar, UCAL_TZ_TRANSITION_NEXT, &next, &e) || U_FAILURE(e))
        return;
    change = (instant_s)(next / MS_PER_S);
    after = offset_at(z, change);
    if (after < before && local >= change + after)
        *ret =
            (struct zone_time){.kind = ZONE_TWICE, .at = at, .first = change + after, .end = change + before};
}

const char *zone_text(const char *name, instant_s t, char ret[ZONE_TEXT_MAX])
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    CLEANUP(zone_closep) struct zone *z = zone_open(name);
    int64_t offset = z ? offset_at(z, t) : 0;
    int64_t day = (t + offset) / S_PER_DAY;
    int64_t s = (t + offset) % S_PER_DAY;
    int64_t east = offset < 0 ? -offset : offset;
    int y;
    unsigned m;
    unsigned d;

    if (s < 0) {
        s += S_PER_DAY;
        day--;
    }
    civil_from_days(day, &y, &m, &d);
    (void)snprintf(ret, ZONE_TEXT_MAX, "%s %04d-%02u-%02u %02d:%02d:%02d %c%02d:%02d",
                   days[civil_weekday(day)], y, m, d, (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60),
                   offset < 0 ? '-' : '+', (int)(east / 3600), (int)(east / 60 % 60));
    return ret;
}
