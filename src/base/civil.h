/* civil.h: dates as days since 1970-01-01 and back, in the proleptic Gregorian calendar. No time zone, no
 * locale, no state of libc. */
#ifndef BALLAST_BASE_CIVIL_H
#define BALLAST_BASE_CIVIL_H

#include <stdint.h>

/* m: 1 ... 12, d: 1 ... 31. */
int64_t civil_to_days(int64_t y, unsigned m, unsigned d);

void civil_from_days(int64_t z, int *ret_y, unsigned *ret_m, unsigned *ret_d);

/* 0: Monday ... 6: Sunday. */
int civil_weekday(int64_t z);

#endif
