/* Instants as text: which texts are read, which are refused, and that writing is the inverse of reading. */
#include "unit.h"

#include "base/rfc3339.h"

#include <errno.h>

static const struct {
    const char *text;
    instant_s at;
} good[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"2026-01-01T00:00:00Z", 1767225600},
    {"2024-02-29T23:59:59Z", 1709251199},
    {"2026-01-01t00:00:00z", 1767225600},
    {"2026-01-01T00:00:00.999Z", 1767225600},
    {"2026-01-01T02:00:00+02:00", 1767225600},
    {"2025-12-31T18:30:00-05:30", 1767225600},
};

static const char *const bad[] = {
    "",
    "2026",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:00Zjunk",
    "2026-01-01T00:00:00+",
    "2026-01-01T00:00:00+2:00",
    " 2026-01-01T00:00:00Z",
    "+026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.Z",
    "yesterday",
};

static void test_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(good); i++) {
        instant_s at = -1;
        if (rfc3339_parse(good[i].text, &at) != 0 || at != good[i].at)
            fail_msg("\"%s\" was read as %lld, not %lld", good[i].text, (long long)at, (long long)good[i].at);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(bad); i++) {
        instant_s at = 42;
        if (rfc3339_parse(bad[i], &at) != -EINVAL || at != 42)
            fail_msg("\"%s\" was not refused, or the output was touched", bad[i]);
    }
}

static void test_writes_what_it_reads(void **state)
{
    (void)state;
    for (instant_s t = 0; t < 4102444800; t += 86399 * 17) {
        char text[RFC3339_MAX];
        instant_s back = -1;
        assert_int_equal(rfc3339_parse(rfc3339_format(t, text), &back), 0);
        assert_true(back == t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
