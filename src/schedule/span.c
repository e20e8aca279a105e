/* span.c: parses time spans such as "1d 12h". */
#include "schedule/span.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* As in systemd, a month is 30.44 days and a year 365.25. */
static const struct {
    const char *word;
    int64_t s;
} units[] = {
    {"seconds", 1},   {"second", 1},       {"sec", 1},          {"s", 1},
    {"minutes", 60},  {"minute", 60},      {"min", 60},         {"m", 60},
    {"hours", 3600},  {"hour", 3600},      {"hr", 3600},        {"h", 3600},
    {"days", 86400},  {"day", 86400},      {"d", 86400},        {"weeks", 604800},
    {"week", 604800}, {"w", 604800},       {"months", 2629800}, {"month", 2629800},
    {"M", 2629800},   {"years", 31557600}, {"year", 31557600},  {"y", 31557600},
};

static int refuse(const char *text, struct err *err)
{
    return err_set(err, -EINVAL, "\"%s\" is not a time span, expected one such as \"10h\" or \"1d 12h\"",
                   text);
}

static int64_t unit_of(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].word) == len && strncmp(word, units[i].word, len) == 0)
            return units[i].s;
    return len == 0 ? 1 : 0;
}

int span_parse(const char *text, int64_t *ret_s, struct err *err)
{
    int64_t sum = 0;
    const char *at = text + strspn(text, " ");

    if (*at == '\0')
        return refuse(text, err);
    while (*at != '\0') {
        int64_t n = 0;
        if (!isdigit((unsigned char)*at))
            return refuse(text, err);
        for (; isdigit((unsigned char)*at) && n <= SPAN_MAX_S; at++)
            n = n * 10 + (*at - '0');
        at += strspn(at, " ");
        size_t len = 0;
        while (isalpha((unsigned char)at[len]))
            len++;
        int64_t unit = unit_of(at, len);
        if (unit == 0)
            return refuse(text, err);
        sum += n > SPAN_MAX_S ? SPAN_MAX_S + 1 : n * unit;
        if (sum > SPAN_MAX_S)
            return err_set(err, -EINVAL, "\"%s\" is longer than 400 days, expected a shorter time span",
                           text);
        at += len;
        at += strspn(at, " ");
    }
    if (sum < 1)
        return err_set(err, -EINVAL, "\"%s\" is a time span of 0, expected one such as \"10h\"", text);
    *ret_s = sum;
    return 0;
}
