/* instant.h: the earlier and the later one of two instants, or the shorter and the longer one of two times.
 */
#ifndef BALLAST_BASE_INSTANT_H
#define BALLAST_BASE_INSTANT_H

#include <ballast/units.h>

static inline instant_s instant_earlier(instant_s a, instant_s b)
{
    return a < b ? a : b;
}

static inline instant_s instant_later(instant_s a, instant_s b)
{
    return a > b ? a : b;
}

#endif
