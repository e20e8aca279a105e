/* span.h: parses systemd's time spans (systemd.time(7)), such as "10h", "1d 12h" or "90 min", into seconds of
 * real time. In the nights when clocks are set, a span ends an hour earlier or later by local time. */
#ifndef BALLAST_SCHEDULE_SPAN_H
#define BALLAST_SCHEDULE_SPAN_H

#include <ballast/err.h>

#include <stdint.h>

#define SPAN_MAX_S (INT64_C(400) * 86400)

/* -EINVAL with a sentence for text that is no span, for less than a second and for more than SPAN_MAX_S. A
 * number without a unit is seconds. */
int span_parse(const char *text, int64_t *ret_s, struct err *err);

#endif
