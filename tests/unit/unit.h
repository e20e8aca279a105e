/* unit.h: cmocka after the headers that it needs; an alphabetical order of includes would put them after
 * it. */
#ifndef BALLAST_TESTS_UNIT_H
#define BALLAST_TESTS_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* As doubles: assert_float_equal() compares floats. */
#define assert_within(a, b, within)                                                                          \
    do {                                                                                                     \
        double a_ = (a), b_ = (b), within_ = (within);                                                       \
        if (!(a_ - b_ <= within_ && b_ - a_ <= within_))                                                     \
            fail_msg("%s is %.12g, expected %.12g within %.3g", #a, a_, b_, within_);                        \
    } while (0)

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
