/* rfc3339.c: formats and parses instants in UTC. Local time is schedule/zone.c's. */
#include "base/rfc3339.h"

#include "base/civil.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define S_PER_DAY 86400
#define YEAR_0_S INT64_C(-62167219200) /* 0000-01-01T00:00:00Z */

const char *rfc3339_format(instant_s t, char ret[RFC3339_MAX])
{
    int64_t days = t / S_PER_DAY;
    int64_t rest = t % S_PER_DAY;

    if (rest < 0) {
        rest += S_PER_DAY;
        days--;
    }
    int y;
    unsigned m;
    unsigned d;
    civil_from_days(days, &y, &m, &d);
    (void)snprintf(ret, RFC3339_MAX, "%04d-%02u-%02uT%02d:%02d:%02dZ", y, m, d, (int)(rest / 3600),
                   (int)(rest / 60 % 60), (int)(rest % 60));
    return ret;
}

static bool digits(const char **s, int n, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)(*s)[i]))
            return false;
        value = value * 10 + ((*s)[i] - '0');
    }
    *s += n;
    *ret = value;
    return true;
}

static bool literal(const char **s, char c)
{
    if (**s != c)
        return false;
    (*s)++;
    return true;
}

static bool parse_offset(const char **s, int *ret_s)
{
    int sign = **s == '+' ? 1 : -1;
    int h;
    int m;

    if (**s == 'Z' || **s == 'z') {
        (*s)++;
        *ret_s = 0;
        return true;
    }
    if (**s != '+' && **s != '-')
        return false;
    (*s)++;
    if (!digits(s, 2, &h) || !literal(s, ':') || !digits(s, 2, &m) || h > 23 || m > 59)
        return false;
    *ret_s = sign * (h * 3600 + m * 60);
    return true;
}

static int days_in_month(int y, int m)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

    return m == 2 && leap ? 29 : days[m - 1];
}

int rfc3339_parse(const char *text, instant_s *ret)
{
    const char *s = text;
    int y;
    int mo;
    int d;
    int h;
    int mi;
    int sec;
    int offset;

    if (!digits(&s, 4, &y) || !literal(&s, '-') || !digits(&s, 2, &mo) || !literal(&s, '-') ||
        !digits(&s, 2, &d))
        return -EINVAL;
    if (*s != 'T' && *s != 't' && *s != ' ')
        return -EINVAL;
    s++;
    if (!digits(&s, 2, &h) || !literal(&s, ':') || !digits(&s, 2, &mi) || !literal(&s, ':') ||
        !digits(&s, 2, &sec))
        return -EINVAL;
    if (*s == '.') {
        s++;
        if (!isdigit((unsigned char)*s))
            return -EINVAL;
        while (isdigit((unsigned char)*s))
            s++;
    }
    if (!parse_offset(&s, &offset) || *s != '\0')
        return -EINVAL;
    if (mo < 1 || mo > 12 || d < 1 || d > days_in_month(y, mo) || h > 23 || mi > 59 || sec > 60)
        return -EINVAL;
    instant_s t = civil_to_days(y, (unsigned)mo, (unsigned)d) * S_PER_DAY + h * 3600 + mi * 60 + sec - offset;
    /* the offset must not lead out of the years 0 ... 9999 */
    if (t < YEAR_0_S || t > RFC3339_LAST)
        return -EINVAL;
    *ret = t;
    return 0;
}
