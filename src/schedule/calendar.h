/* calendar.h: systemd's calendar expressions (systemd.time(7)), such as "Mon..Fri 20:00", "Sat,Sun *-*-*
 * 08:30 Europe/Berlin", "*-*~1 22:00" or "daily".
 *
 * libsystemd exports no parser, so this is one; tests/peers/test_calendar.py compares it with
 * systemd-analyze. What it knows: days of the week, dates with or without a year, times with or without
 * seconds, "*", lists, ranges "..", repetition "/", "~" for days counted from the end of the month, the
 * shorthands (minutely ... yearly), and a time zone at the end (an IANA name or UTC; without one the zone
 * that the caller gives). Refused, with a sentence: fractions of a second, "@" with a number, the two letters
 * of a local zone ("CET" is an IANA name, "CEST" is none), and dates that never come ("*-02-30").
 *
 * An expression is kept as sets of what it allows, so that any of them is searched in bounded time: at most
 * as many steps as there are days between 1970 and 2199, the years that systemd knows.
 *
 * An occurrence is a second of local time. What does not exist, when clocks are set forward, is left out that
 * day; what exists twice, when they are set back, counts the first time. */
#ifndef BALLAST_SCHEDULE_CALENDAR_H
#define BALLAST_SCHEDULE_CALENDAR_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/units.h>

#include <stdbool.h>

#define CALENDAR_YEAR_FIRST 1970
#define CALENDAR_YEAR_LAST 2199
#define CALENDAR_YEARS (CALENDAR_YEAR_LAST - CALENDAR_YEAR_FIRST + 1)
#define CALENDAR_TEXT_MAX 256 /* bytes */

/* Bit n of a set stands for n; of weekdays, bit 0 is Monday. */
struct calendar {
    uint64_t years[(CALENDAR_YEARS + 63) / 64]; /* bit 0: CALENDAR_YEAR_FIRST */
    uint64_t months, days, hours, minutes, seconds, weekdays;
    bool from_end;    /* days: bit 1 is the last of the month */
    const char *zone; /* IANA name */
    const char *text; /* as it was written */
};

/* zone: for expressions that name none. -EINVAL with a sentence that says what was expected; text and zone
 * are copied to the arena. */
int calendar_parse(const char *text, const char *zone, struct arena *a, struct calendar *ret,
                   struct err *err);

/* The first occurrence after the instant, and the last one at or before it. False: there is none. */
bool calendar_next(const struct calendar *c, instant_s after, instant_s *ret);
bool calendar_last(const struct calendar *c, instant_s until, instant_s *ret);

#endif
