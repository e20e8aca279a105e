/* number.h: numbers as people write them. */
#ifndef BALLAST_BASE_NUMBER_H
#define BALLAST_BASE_NUMBER_H

#include <stdbool.h>

/* Digits, with sign, point and exponent: what strtod() takes, without its hexadecimal, infinities and blanks.
 * false, and *ret untouched, for anything else. */
bool number_parse(const char *text, double *ret);

#endif
