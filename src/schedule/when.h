/* when.h: an instant as a person writes it: "2026-01-31T12:00:00Z", "2026-01-31", "yesterday", "2h".
 *
 * Every time option of the command line takes these forms, and no other. */
#ifndef BALLAST_SCHEDULE_WHEN_H
#define BALLAST_SCHEDULE_WHEN_H

#include <ballast/err.h>
#include <ballast/units.h>

/* The forms, for a help text. */
#define WHEN_FORMS "2026-01-31T12:00:00Z, 2026-01-31, today, yesterday, or 2h: so long ago"

/* RFC 3339 with Z or an offset; a day, which is its beginning in UTC; "now"; a time span (span.h) before now,
 * whose numbers all have units, with or without "ago". -EINVAL with a sentence, and *ret untouched, for
 * anything else, and for what is not after 1970. */
int when_parse(const char *text, instant_s now, instant_s *ret, struct err *err);

#endif
