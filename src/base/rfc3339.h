/* rfc3339.h: instants as text, in UTC (RFC 3339). */
#ifndef BALLAST_BASE_RFC3339_H
#define BALLAST_BASE_RFC3339_H

#include <ballast/units.h>

#define RFC3339_MAX 32
#define RFC3339_LAST INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

/* "2026-01-01T00:00:00Z"; returns ret. */
const char *rfc3339_format(instant_s t, char ret[RFC3339_MAX]);

/* Reads a date-time with Z or an offset; fractions of a second are dropped. -EINVAL for anything else. */
int rfc3339_parse(const char *text, instant_s *ret);

#endif
