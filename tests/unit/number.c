/* Numbers as people write them. */
#include "unit.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *text;
    bool good;
    double expected;
} cases[] = {
    {"0", true, 0},      {"17", true, 17},  {"+1.5", true, 1.5}, {"-2", true, -2},  {".5", true, 0.5},
    {"1e3", true, 1000}, {"", false, 0},    {" 1", false, 0},    {"1 ", false, 0},  {"0x10", false, 0},
    {"inf", false, 0},   {"nan", false, 0}, {"1e999", false, 0}, {"1,5", false, 0}, {"1e", false, 0},
    {"--1", false, 0},   {"-", false, 0},   {"1.2.3", false, 0}, {"e5", false, 0},  {"much", false, 0},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        double found = -77;
        if (number_parse(cases[i].text, &found) != cases[i].good ||
            !(found == (cases[i].good ? cases[i].expected : -77)))
            fail_msg("\"%s\" gives %g", cases[i].text, found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
