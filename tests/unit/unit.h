/* unit.h: cmocka after the headers that it needs; an alphabetical order of includes would put them after
 * it. */
#ifndef BALLAST_TESTS_UNIT_H
#define BALLAST_TESTS_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
/* clang-format on */

/* As doubles: assert_float_equal() compares floats. */
#define assert_within(a, b, within)                                                                          \
    do {                                                                                                     \
        double a_ = (a), b_ = (b), within_ = (within);                                                       \
        if (!(a_ - b_ <= within_ && b_ - a_ <= within_))                                                     \
            fail_msg("%s is %.12g, expected %.12g within %.3g", #a, a_, b_, within_);                        \
    } while (0)

/* How many of so many seeds a run tries: one that is slow and not long, a tenth. */
static inline unsigned rounds(unsigned all)
{
    return getenv("BALLAST_TEST_SLOW") && !getenv("BALLAST_TEST_LONG") ? (all + 9) / 10 : all;
}

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
