/* Tasks that wait for peers: side by side, each within its own time; those that hang hold up no others. */
#include "preflight/run_tasks.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define MANY 700 /* more than there are threads */

static atomic_int ran;

static void quick(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&ran, 1);
}

static void nap(void *ctx)
{
    const struct timespec t = {.tv_nsec = 200 * 1000000L};

    (void)nanosleep(&t, NULL);
    quick(ctx);
}

/* Longer than the test. */
static void hang(void *ctx)
{
    const struct timespec t = {.tv_sec = 3600};

    (void)ctx;
    (void)nanosleep(&t, NULL);
}

static int64_t now_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

static void test_none(void **state)
{
    (void)state;
    assert_int_equal(run_tasks(NULL, 0, NULL), 0);
}

/* 100 that take 0.2 s each end long before their sum. */
static void test_side_by_side(void **state)
{
    struct preflight_task tasks[100];
    const int64_t began = now_ms();

    (void)state;
    atomic_store(&ran, 0);
    for (size_t i = 0; i < 100; i++)
        tasks[i] = (struct preflight_task){.run = nap, .most_s = 60};
    assert_int_equal(run_tasks(tasks, 100, NULL), 0);
    assert_int_equal(atomic_load(&ran), 100);
    assert_true(now_ms() - began < 100 * 200 / 2);
    for (size_t i = 0; i < 100; i++)
        assert_true(tasks[i].done);
}

/* Half of them hang: more than there are threads, so that those behind them need new ones. */
static void test_hung(void **state)
{
    struct preflight_task *tasks = calloc(MANY, sizeof *tasks);
    size_t done = 0;

    (void)state;
    atomic_store(&ran, 0);
    for (size_t i = 0; i < MANY; i++)
        tasks[i] =
            (struct preflight_task){.run = i < MANY / 2 ? hang : quick, .most_s = i < MANY / 2 ? 1 : 60};
    assert_int_equal(run_tasks(tasks, MANY, NULL), 0);
    assert_int_equal(atomic_load(&ran), MANY - MANY / 2);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(tasks[i].done, i >= MANY / 2);
        done += tasks[i].done;
    }
    assert_int_equal(done, MANY - MANY / 2);
    free(tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_hung),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    _Exit(failed); /* threads hang */
}
