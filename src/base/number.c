/* number.c: parses decimal numbers strictly, and writes them. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_parse(const char *text, double *ret)
{
    char *end;

    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    double v = strtod(text, &end);
    if (*end || !isfinite(v))
        return false;
    *ret = v;
    return true;
}

const char *number_format(double v, char ret[NUMBER_TEXT_MAX])
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(ret, NUMBER_TEXT_MAX, "%.*g", digits, v);
        if (strtod(ret, NULL) == v)
            break;
    }
    return ret;
}
