/* when.h: parses the instants of the command line: "2026-01-31T12:00:00Z", "2026-01-31", "yesterday", "2h".
 *
 * Every time option takes these forms, and no others. */
#ifndef BALLAST_SCHEDULE_WHEN_H
#define BALLAST_SCHEDULE_WHEN_H

#include <ballast/err.h>
#include <ballast/units.h>

/* The forms, for help texts. */
#define WHEN_FORMS "2026-01-31T12:00:00Z, 2026-01-31, today, yesterday, or 2h: so long ago"

/* Accepts RFC 3339 with Z or an offset; a date, which means 00:00 UTC; "now"; and a time span (span.h) before
 * now, every number with its unit, with or without "ago". -EINVAL with a sentence, and *ret unchanged, for
 * any other text and for instants not after 1970-01-01T00:00:00Z. */
int when_parse(const char *text, instant_s now, instant_s *ret, struct err *err);

#endif
