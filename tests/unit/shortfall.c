/* The expected shortfall, against tables of the unit normal loss function. */
#include "unit.h"

#include "core/costbenefit/shortfall.h"

#include <math.h>

static void test_table(void **state)
{
    static const struct {
        double mean, stddev, capacity, expected;
    } cases[] = {
        {100, 0, 80, 20}, /* no doubt about it */
        {100, 0, 120, 0},
        {100, 10, 100, 3.989422804}, /* L(0) = 0.39894 */
        {100, 10, 110, 0.833154706}, /* L(1) = 0.08332 */
        {100, 10, 90, 10.833154706}, /* L(-1) = 1 + L(1) */
        {100, 10, 120, 0.084907026}, /* L(2) = 0.00849 */
        {100, 10, 130, 0.003821543}, /* L(3) = 0.00038 */
        {0, 0, 0, 0},
        {100, 10, 1000, 0},
        {1000, 10, 100, 900},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        double got = shortfall_expected(cases[i].mean, cases[i].stddev, cases[i].capacity);
        if (!(fabs(got - cases[i].expected) <= 1e-6 * cases[i].stddev + 1e-12))
            fail_msg("case %zu: %.9f, expected %.9f", i, got, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
