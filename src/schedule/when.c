/* when.c: parses the times that a person gives on the command line. */
#include "schedule/when.h"

#include "base/rfc3339.h"
#include "schedule/span.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define S_PER_DAY 86400
#define DATE_LENGTH 10 /* of 2026-01-31 */
#define SPAN_LENGTH 64 /* longer than any sensible span */

static const struct {
    const char *word;
    int days; /* before today; -1: now */
} words[] = {{"now", -1}, {"today", 0}, {"yesterday", 1}};

/* A bare "90" could mean seconds or a count, so a unit is required. */
static bool has_units(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && strchr("0123456789", text[len - 1]) == NULL;
}

static int read_span(const char *text, int64_t *ret_s)
{
    static const char ago[] = " ago";
    char span[SPAN_LENGTH];
    size_t len = strlen(text);

    if (len > strlen(ago) && strcmp(text + len - strlen(ago), ago) == 0)
        len -= strlen(ago);
    if (len >= sizeof span)
        return -EINVAL;
    memcpy(span, text, len);
    span[len] = '\0';
    return has_units(span) ? span_parse(span, ret_s, NULL) : -EINVAL;
}

static int read_any(const char *text, instant_s now, instant_s *ret)
{
    char midnight[RFC3339_MAX];
    int64_t span_s;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].word) != 0)
            continue;
        *ret = words[i].days < 0 ? now : now - now % S_PER_DAY - (instant_s)words[i].days * S_PER_DAY;
        return 0;
    }
    if (strlen(text) == DATE_LENGTH) {
        (void)snprintf(midnight, sizeof midnight, "%.10sT00:00:00Z", text);
        if (rfc3339_parse(midnight, ret) == 0)
            return 0;
    }
    if (rfc3339_parse(text, ret) == 0)
        return 0;
    if (read_span(text, &span_s) < 0)
        return -EINVAL;
    *ret = now - span_s;
    return 0;
}

int when_parse(const char *text, instant_s now, instant_s *ret, struct err *err)
{
    instant_s t = 0;

    if (read_any(text, now, &t) < 0 || t <= 0)
        return err_set(
            err, -EINVAL,
            "\"%.40s\" is wrong, expected a time (2026-01-31T12:00:00Z), a day (2026-01-31, today or "
            "yesterday, from its beginning in UTC) or how long ago (30min, 2h, 1d 12h)",
            text);
    *ret = t;
    return 0;
}
