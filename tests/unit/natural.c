/* The order in which a person expects names. */
#include "unit.h"

#include "base/natural.h"

/* Each before all that follow. */
static const char *const in_order[] = {
    "",
    "0",
    "01",
    "1",
    "2",
    "10",
    "18446744073709551616",
    "Esx2",
    "esx",
    "esx-1",
    "esx-2.a",
    "esx-2.b",
    "esx-10.a",
    "esx02",
    "esx2",
    "esx2a",
    "esx2a1",
    "esx2a10",
    "esx3",
    "esx10",
    "esx10-2",
    "esx10-10",
    "esx99999999999999999999999998",
    "esx99999999999999999999999999",
    "esxa",
    "esx\xc3\xa4",
    "f",
};

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static void test_natural(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(in_order); i++) {
        for (size_t k = 0; k < ELEMENTS(in_order); k++) {
            if (sign(natural_compare(in_order[i], in_order[k])) != (i > k) - (i < k))
                fail_msg("\"%s\" and \"%s\"", in_order[i], in_order[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_natural)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
