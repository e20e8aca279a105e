/* number.h: parses decimal numbers. */
#ifndef BALLAST_BASE_NUMBER_H
#define BALLAST_BASE_NUMBER_H

#include <stdbool.h>

/* Accepts digits with sign, point and exponent: the forms of strtod() without hexadecimal, infinities and
 * blanks. False, and *ret unchanged, for any other text. */
bool number_parse(const char *text, double *ret);

#endif
