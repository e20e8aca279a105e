/* number.h: decimal numbers and their text. */
#ifndef BALLAST_BASE_NUMBER_H
#define BALLAST_BASE_NUMBER_H

#include <stdbool.h>

/* Accepts digits with sign, point and exponent: the forms of strtod() without hexadecimal, infinities and
 * blanks. False, and *ret unchanged, for any other text. */
bool number_parse(const char *text, double *ret);

/* The shortest text that reads back as this number; without an exponent for whole numbers below 1e15. */
#define NUMBER_TEXT_MAX 32
const char *number_format(double v, char ret[NUMBER_TEXT_MAX]);

#endif
