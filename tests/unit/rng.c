/* splitmix64: the published numbers, and results within the requested range. */
#include "unit.h"

#include "base/rng.h"

/* From seed 1234567, as in the reference implementation. */
static const uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                     4593380528125082431u, 16408922859458223821u};

static void test_published(void **state)
{
    struct rng r = {.state = 1234567};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(published); i++)
        assert_true(rng_next(&r) == published[i]);
}

static void test_ranges(void **state)
{
    struct rng r = {.state = 1};
    double sum = 0.0, squares = 0.0;
    enum { ROUNDS = 20000 };

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        double unit = rng_unit(&r), range = rng_range(&r, -3.0, 7.0), normal = rng_normal(&r, 10.0, 2.0);
        assert_true(unit >= 0.0 && unit < 1.0);
        assert_true(range >= -3.0 && range < 7.0);
        assert_true(rng_below(&r, 7) < 7);
        assert_int_equal(rng_below(&r, 1), 0);
        assert_true(normal >= 10.0 - 6 * 2.0 && normal <= 10.0 + 6 * 2.0);
        sum += normal;
        squares += (normal - 10.0) * (normal - 10.0);
    }
    assert_true(sum / ROUNDS > 9.9 && sum / ROUNDS < 10.1);
    assert_true(squares / ROUNDS > 3.8 && squares / ROUNDS < 4.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
