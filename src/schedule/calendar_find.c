/* calendar_find.c: searches for occurrences: day by day over sets, forwards or backwards, with whole years
 * and months left out. */
#include "schedule/calendar.h"

#include "schedule/zone.h"

#include "base/civil.h"
#include "base/cleanup.h"

#define S_PER_DAY 86400
#define JUMP_MOST_S                                                                                          \
    (2 * 3600) /* by which clocks are set forward; zones that skipped a whole day are left out */

static bool has(const uint64_t *set, int bit)
{
    return (set[bit / 64] >> (bit % 64) & 1) != 0;
}

struct day {
    int year;
    unsigned month, of_month;
};

static int days_in(const struct day *d)
{
    int year = d->month == 12 ? d->year + 1 : d->year;
    unsigned month = d->month == 12 ? 1 : d->month + 1;

    return (int)(civil_to_days(year, month, 1) - civil_to_days(d->year, d->month, 1));
}

static bool day_matches(const struct calendar *c, const struct day *d, int64_t day)
{
    int n = (int)d->of_month;

    if (c->from_end)
        n = days_in(d) + 1 - n;
    return n >= 0 && has(&c->days, n) && has(&c->weekdays, civil_weekday(day));
}

/* The nearest allowed day at or beyond this one, in the direction of step. False: none in the years. */
static bool find_day(const struct calendar *c, int step, int64_t *day)
{
    for (;;) {
        struct day d;
        civil_from_days(*day, &d.year, &d.month, &d.of_month);
        if (step > 0 && d.year < CALENDAR_YEAR_FIRST) {
            *day = 0;
            continue;
        }
        if (step < 0 && d.year > CALENDAR_YEAR_LAST) {
            *day = civil_to_days(CALENDAR_YEAR_LAST, 12, 31);
            continue;
        }
        if (d.year < CALENDAR_YEAR_FIRST || d.year > CALENDAR_YEAR_LAST)
            return false;
        if (!has(c->years, d.year - CALENDAR_YEAR_FIRST))
            *day = step > 0 ? civil_to_days(d.year + 1, 1, 1) : civil_to_days(d.year, 1, 1) - 1;
        else if (!has(&c->months, (int)d.month))
            *day = step > 0 ? *day - d.of_month + 1 + days_in(&d) : *day - d.of_month;
        else if (day_matches(c, &d, *day))
            return true;
        else
            *day += step;
    }
}

/* The nearest member of the set at or beyond the bit; -1: none. */
static int near_bit(uint64_t set, int bit, int step)
{
    for (; bit >= 0 && bit < 60; bit += step)
        if (has(&set, bit))
            return bit;
    return -1;
}

/* The nearest time of day at or beyond this second of the day; -1: none. */
static int find_time(const struct calendar *c, int second, int step)
{
    int far = step > 0 ? 0 : 59;
    int h = second / 3600;
    int m = second / 60 % 60;
    int s = second % 60;
    int at_h = near_bit(c->hours, h, step);

    if (at_h != h)
        return at_h < 0
                   ? -1
                   : at_h * 3600 + near_bit(c->minutes, far, step) * 60 + near_bit(c->seconds, far, step);
    int at_m = near_bit(c->minutes, m, step);
    int at_s = at_m == m ? near_bit(c->seconds, s, step) : near_bit(c->seconds, far, step);
    if (at_m >= 0 && at_s < 0) { /* no second left in this minute */
        at_m = near_bit(c->minutes, m + step, step);
        at_s = near_bit(c->seconds, far, step);
    }
    if (at_m >= 0)
        return h * 3600 + at_m * 60 + at_s;
    at_h = near_bit(c->hours, h + step, step); /* no minute left in this hour */
    return at_h < 0 ? -1
                    : at_h * 3600 + near_bit(c->minutes, far, step) * 60 + near_bit(c->seconds, far, step);
}

/* The nearest allowed local second at or beyond this one, in the direction of step. */
static bool find_local(const struct calendar *c, int step, int64_t *local)
{
    int64_t day = *local / S_PER_DAY - (*local % S_PER_DAY < 0 ? 1 : 0);
    int second = (int)(*local - day * S_PER_DAY);

    for (;;) {
        int64_t found = day;
        if (!find_day(c, step, &found))
            return false;
        if (found != day)
            second = step > 0 ? 0 : S_PER_DAY - 1;
        day = found;
        second = find_time(c, second, step);
        if (second >= 0) {
            *local = day * S_PER_DAY + second;
            return true;
        }
        day += step;
        second = step > 0 ? 0 : S_PER_DAY - 1;
    }
}

/* By how much clocks are set forward shortly after the instant; 0: not at all. */
static int64_t jump_after(struct zone *z, instant_s t)
{
    int64_t jump = zone_local(z, t + JUMP_MOST_S) - zone_local(z, t) - JUMP_MOST_S;

    return jump > 0 ? jump : 0;
}

/* What becomes of times that the clocks skip. */
enum skipped { SKIPPED_NEVER, SKIPPED_EARLIER, SKIPPED_AT_CHANGE };

/* The instant that the local time counts as. False: it does not occur. */
static bool occurs(struct zone *z, int64_t local, enum skipped mode, struct zone_time *ret)
{
    zone_instant(z, local, ret);
    if (ret->kind != ZONE_GAP || mode == SKIPPED_EARLIER)
        return true;
    if (mode == SKIPPED_AT_CHANGE) {
        struct zone_time change;

        zone_instant(z, ret->end, &change);
        ret->at = change.at;
    }
    return mode == SKIPPED_AT_CHANGE;
}

static bool next(const struct calendar *c, instant_s after, enum skipped mode, instant_s *ret)
{
    CLEANUP(zone_closep) struct zone *z = zone_open(c->zone);
    struct zone_time at;
    int64_t until =
        INT64_MAX; /* local; a skipped time before it may be an earlier instant than the one found */

    if (!z)
        return false;
    int64_t local = zone_local(z, after);
    zone_instant(z, local, &at);
    /* `after` is in the second pass of a repeated time: all repeated occurrences are over */
    local = at.kind == ZONE_TWICE && at.at != after ? at.end : local + 1;
    while (find_local(c, 1, &local) && local < until) {
        bool counts = occurs(z, local, mode, &at);

        if (counts && at.at > after && (until == INT64_MAX || at.at < *ret)) {
            *ret = at.at;
            int64_t jump = mode == SKIPPED_EARLIER ? jump_after(z, at.at) : 0;
            if (jump == 0)
                return true;
            until = zone_local(z, at.at) + jump + JUMP_MOST_S;
        }
        local = counts ? local + 1 : at.end;
    }
    return until != INT64_MAX;
}

static bool last(const struct calendar *c, instant_s until, enum skipped mode, instant_s *ret)
{
    CLEANUP(zone_closep) struct zone *z = zone_open(c->zone);
    struct zone_time at;
    bool any = false;

    if (!z)
        return false;
    int64_t local = zone_local(z, until);
    zone_instant(z, local, &at);
    if (at.kind == ZONE_TWICE &&
        at.at != until) /* in the second pass of a repeated time: all its occurrences are over */
        local = at.end - 1;
    if (mode == SKIPPED_EARLIER) /* a skipped time is later by the clock than the instant that it counts as */
        local += jump_after(z, until) > 0 ? JUMP_MOST_S : 0;
    while (find_local(c, -1, &local)) {
        bool counts = occurs(z, local, mode, &at);

        if (counts && at.at <= until && (!any || at.at > *ret)) {
            *ret = at.at;
            any = true;
        }
        if (any && (at.kind != ZONE_GAP || mode == SKIPPED_AT_CHANGE) && at.at <= until)
            return true;
        local = counts ? local - 1 : at.first - 1;
    }
    return any;
}

bool calendar_next(const struct calendar *c, instant_s after, instant_s *ret)
{
    return next(c, after, SKIPPED_NEVER, ret);
}

bool calendar_last(const struct calendar *c, instant_s until, instant_s *ret)
{
    return last(c, until, SKIPPED_NEVER, ret);
}

bool calendar_next_due(const struct calendar *c, instant_s after, instant_s *ret)
{
    return next(c, after, SKIPPED_EARLIER, ret);
}

bool calendar_last_due(const struct calendar *c, instant_s until, instant_s *ret)
{
    return last(c, until, SKIPPED_EARLIER, ret);
}

bool calendar_next_or_after_gap(const struct calendar *c, instant_s after, instant_s *ret)
{
    return next(c, after, SKIPPED_AT_CHANGE, ret);
}

bool calendar_last_or_after_gap(const struct calendar *c, instant_s until, instant_s *ret)
{
    return last(c, until, SKIPPED_AT_CHANGE, ret);
}
