/* civil.c: dates to day numbers and back. Time zones are schedule/zone.c's. */
#include "base/civil.h"

#define DAYS_PER_ERA 146097 /* 400 years */
#define DAYS_PER_WEEK 7
#define THURSDAY 3 /* the weekday of 1970-01-01 */

int64_t civil_to_days(int64_t y, unsigned m, unsigned d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    unsigned yoe = (unsigned)(y - era * 400);
    unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * DAYS_PER_ERA + (int64_t)doe - 719468;
}

void civil_from_days(int64_t z, int *ret_y, unsigned *ret_m, unsigned *ret_d)
{
    z += 719468;
    int64_t era = (z >= 0 ? z : z - DAYS_PER_ERA + 1) / DAYS_PER_ERA;
    unsigned doe = (unsigned)(z - era * DAYS_PER_ERA);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;

    *ret_d = doy - (153 * mp + 2) / 5 + 1;
    *ret_m = mp < 10 ? mp + 3 : mp - 9;
    *ret_y = (int)((int64_t)yoe + era * 400) + (*ret_m <= 2);
}

int civil_weekday(int64_t z)
{
    int64_t day = (z + THURSDAY) % DAYS_PER_WEEK;

    return (int)(day < 0 ? day + DAYS_PER_WEEK : day);
}
