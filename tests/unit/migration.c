/* The migration model, round by round. */
#include "unit.h"

#include "core/costbenefit/migration.h"

static void test_rounds(void **state)
{
    static const struct {
        double mem, dirty, rate, copied, duration, downtime;
        bool converges;
    } cases[] = {
        {1000, 0, 100, 1000, 10, 0, true},           /* one round, nothing is left */
        {1000, 10, 100, 1100 + 10, 11.1, 0.1, true}, /* 1000, 100, the rest of 10 in one go */
        {20, 50, 100, 20, 0.2, 0.2, true},           /* fits into the downtime at once */
        {1000, UNKNOWN, 100, 1110, 11.1, 0.1, true}, /* a tenth of the rate is taken */
        {1000, 100, 100, 5000, 50.3, 0.3, false},    /* as fast as it is copied */
        {1000, 200, 100, 5000, 50.3, 0.3, false},
        {100000, 99, 100, 500000, 5000.3, 0.3, false}, /* it would take more rounds than there are */
        {0, 10, 100, 0, 0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct migration_model m;
        migration_model(cases[i].mem, cases[i].dirty, cases[i].rate, &m);
        if (fabs(m.copied_mb - cases[i].copied) > 1e-6 || fabs(m.duration_s - cases[i].duration) > 1e-6 ||
            fabs(m.downtime_s - cases[i].downtime) > 1e-6 || m.converges != cases[i].converges)
            fail_msg("case %zu: %g MiB in %g s, down for %g s, %s", i, m.copied_mb, m.duration_s,
                     m.downtime_s, m.converges ? "converges" : "is throttled");
    }
}

/* What a migration takes at least is no more than it takes at any lower rate. */
static void test_least(void **state)
{
    (void)state;
    for (double rate = 100; rate > 10; rate -= 1)
        for (double dirty = 0; dirty < 150; dirty += 7) {
            struct migration_model m;
            struct migration_model least;
            migration_least(1000, dirty, 100, rate, &least);
            migration_model(1000, dirty, rate, &m);
            assert_true(least.duration_s <= m.duration_s && least.copied_mb <= m.copied_mb);
            assert_true(migration_copy_mhz_s(&least) <= migration_copy_mhz_s(&m));
            assert_true(migration_loss_mhz_s(&least, 500) <= migration_loss_mhz_s(&m, 500) * (1 + 1e-12));
        }
}

/* Who writes more loses more, and nobody more than it wants. */
static void test_loss(void **state)
{
    struct migration_model calm, busy, throttled;

    (void)state;
    migration_model(1000, 0, 100, &calm);
    migration_model(1000, 50, 100, &busy);
    migration_model(1000, 100, 100, &throttled);
    assert_true(calm.again_mb == 0 && throttled.again_mb == 4000);
    assert_true(fabs(busy.again_mb - (busy.copied_mb - 1000)) < 1e-9 && busy.again_mb > 900);
    assert_true(fabs(migration_loss_mhz_s(&calm, 2000) - 0.1 * 2000 * 10) < 1e-6);
    double tracked = 0.1 * (busy.duration_s - busy.downtime_s) + busy.downtime_s;
    assert_true(fabs(migration_loss_mhz_s(&busy, 2000) - (2000 * tracked + busy.again_mb)) < 1e-6);
    assert_true(migration_loss_mhz_s(&throttled, 2000) > migration_loss_mhz_s(&busy, 2000));
    assert_true(migration_loss_mhz_s(&busy, 10) <= 10 * busy.duration_s);
    assert_true(migration_loss_mhz_s(&busy, 0) == 0);
}

static void test_backwards(void **state)
{
    static const struct {
        double mem, duration, rate, dirty; /* rate: of a VM that dirties nothing; dirty: at 100 MiB/s */
    } cases[] = {
        {1000, 10, 100, 0}, /* one round at 100 MiB/s, nothing dirtied */
        {1000, 5, 200, 0},  /* faster than the rate: the rate is to blame, not the VM */
        {1000, 11.1, 1000 / 11.1, 10},
        {1000, 20, 50, 50},
        {1000, 50.3, 1000 / 50.3, 100}, /* as long as a throttled one: at least as fast as it is copied */
        {1000, 500, 2, 100},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        double rate = migration_rate_of(cases[i].mem, 0, cases[i].duration);
        double dirty = migration_dirty_of(cases[i].mem, 100, cases[i].duration);
        if (fabs(rate / cases[i].rate - 1) > 1e-6 || fabs(dirty - cases[i].dirty) > 0.5)
            fail_msg("case %zu: %g MiB/s, %g MiB/s dirtied", i, rate, dirty);
    }
    /* nobody knows what it dirties: the same tenth is taken as forwards */
    assert_true(fabs(migration_rate_of(1000, UNKNOWN, 11.1) - 100) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds), cmocka_unit_test(test_least),
                                       cmocka_unit_test(test_loss), cmocka_unit_test(test_backwards)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
