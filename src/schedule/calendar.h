/* calendar.h: parses systemd's calendar expressions (systemd.time(7)) and finds their occurrences. Examples:
 * "Mon..Fri 20:00", "Sat,Sun *-*-* 08:30 Europe/Berlin", "*-*~1 22:00", "daily".
 *
 * libsystemd exports no parser; tests/peers/test_calendar.py compares this one with systemd-analyze.
 * Supported: weekdays, dates with or without a year, times with or without seconds, "*", lists, ranges "..",
 * repetition "/", "~" for days counted from the end of the month, the shorthands (minutely ... yearly), and a
 * time zone at the end (an IANA name or UTC). Refused with a sentence: fractions of a second, "@" with a
 * number, abbreviations of a local zone ("CET" is an IANA name, "CEST" is not), and dates that never occur
 * ("*-02-30").
 *
 * An expression is stored as sets of allowed values. A search takes at most one step for each day from 1970
 * to 2199, the years that systemd supports.
 *
 * An occurrence is a second of local time. When clocks are set forward, skipped times do not occur that day;
 * when clocks are set back, a repeated time occurs once, the first time. */
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
    bool from_end;    /* days count from the end: bit 1 is the last of the month */
    const char *zone; /* IANA name */
    const char *text; /* as it was written */
};

/* zone: used if the expression names none. -EINVAL with a sentence that names the expected form. text and
 * zone are copied to the arena. */
int calendar_parse(const char *text, const char *zone, struct arena *a, struct calendar *ret,
                   struct err *err);

/* The first occurrence after the instant; the last one at or before it. False: none. */
bool calendar_next(const struct calendar *c, instant_s after, instant_s *ret);
bool calendar_last(const struct calendar *c, instant_s until, instant_s *ret);

/* The same for times by which something must be done: a time that the clocks skip counts, as the earlier of
 * the two instants that it may mean (02:30 in the night in which 02:00 becomes 03:00 is 01:30), so that
 * the deadline of that day is not lost. */
bool calendar_next_due(const struct calendar *c, instant_s after, instant_s *ret);
bool calendar_last_due(const struct calendar *c, instant_s until, instant_s *ret);

/* The same for times from which something is protected: a time that the clocks skip counts as the instant of
 * the change, when a program that was to run at the skipped time runs. */
bool calendar_next_or_after_gap(const struct calendar *c, instant_s after, instant_s *ret);
bool calendar_last_or_after_gap(const struct calendar *c, instant_s until, instant_s *ret);

#endif
