/* Instants in the words of a user. */
#include "unit.h"

#include "schedule/when.h"

#include <string.h>

#define NOW 1769860800 /* 2026-01-31T12:00:00Z */
#define DAY 86400

static const struct {
    const char *text;
    instant_s is; /* 0: refused */
} cases[] = {
    {"2026-01-31T12:00:00Z", NOW},
    {"2026-01-31T12:00:00+02:00", NOW - 7200},
    {"2026-01-31", NOW - DAY / 2},
    {"2024-02-29", 1709164800},
    {"today", NOW - DAY / 2},
    {"yesterday", NOW - DAY / 2 - DAY},
    {"now", NOW},
    {"2h", NOW - 7200},
    {"30min", NOW - 1800},
    {"90 min", NOW - 5400},
    {"1d 12h", NOW - DAY * 3 / 2},
    {"1d12h", NOW - DAY * 3 / 2},
    {"2 hours ago", NOW - 7200},
    {"1w", NOW - 7 * DAY},
    {"", 0},
    {" ", 0},
    {"ago", 0},
    {" ago", 0},
    {"0h", 0},
    {"-2h", 0},
    {"2", 0},
    {"1d 12", 0},
    {"2h later", 0},
    {"401d", 0},
    {"2026-02-29", 0},
    {"2026-13-01", 0},
    {"26-01-31", 0},
    {"2026-01-31 12:00", 0},
    {"2026-01-31T12:00:00", 0},
    {"1969-12-31", 0},
    {"Yesterday", 0},
    {"tomorrow", 0},
    {"1111111111111111111111111111111111111111111111111111111111111111111111111h", 0},
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct err err = {0};
        instant_s t = 7;
        int r = when_parse(cases[i].text, NOW, &t, &err);

        print_message("  \"%s\"\n", cases[i].text);
        assert_int_equal(r == 0, cases[i].is != 0);
        assert_int_equal(t, r == 0 ? cases[i].is : 7);
        if (r < 0)
            assert_non_null(strstr(err.text, "expected a time (2026-01-31T12:00:00Z), a day"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
