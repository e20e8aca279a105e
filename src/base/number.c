/* number.c: parses decimal numbers strictly. */
#include "base/number.h"

#include <math.h>
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
