/* unit.h: cmocka with what it needs before it, which an alphabetical order of includes would put after it. */
#ifndef BALLAST_TESTS_UNIT_H
#define BALLAST_TESTS_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
