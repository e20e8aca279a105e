/* The queue of a simulated cluster, compared with a plain list. */
#include "unit.h"

#include "base/rng.h"
#include "sim/cluster/events.h"

#include <ballast/units.h>

#define SLOTS 60

static double next_of(const double *due, uint32_t *ret_slot)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < SLOTS; i++) {
        if (due[i] < next) {
            next = due[i];
            *ret_slot = i;
        }
    }
    return next;
}

/* Times come from few, so that many are equal: those come in the order of their slots. */
static void test_as_a_list(void **state)
{
    struct rng r = {.state = 3};
    struct arena a = {0};
    struct events e;
    double due[SLOTS];

    (void)state;
    events_init(&e, SLOTS, &a);
    for (uint32_t i = 0; i < SLOTS; i++)
        due[i] = INFINITY;
    for (int i = 0; i < 200000; i++) {
        uint32_t slot = rng_below(&r, SLOTS), expected = IX_NONE, got = IX_NONE;
        double t = rng_below(&r, 3) == 0 ? (double)INFINITY : rng_below(&r, 40);

        due[slot] = t;
        events_set(&e, slot, t);
        double next = next_of(due, &expected);

        assert_true(events_next(&e, &got) == next);
        assert_int_equal(got, expected);
    }
    arena_release(&a);
}

/* Half of them are taken off, from anywhere; what is left comes in order. */
static void test_drains_in_order(void **state)
{
    struct rng r = {.state = 4};
    struct arena a = {0};
    struct events e;

    (void)state;
    events_init(&e, SLOTS, &a);
    for (int round = 0; round < 2000; round++) {
        double last = -1;
        uint32_t slot = 0;

        for (uint32_t i = 0; i < SLOTS; i++)
            events_set(&e, i, rng_unit(&r));
        for (int i = 0; i < SLOTS / 2; i++)
            events_set(&e, rng_below(&r, SLOTS), INFINITY);
        for (double next; (next = events_next(&e, &slot)) < INFINITY; last = next) {
            assert_true(next >= last);
            events_set(&e, slot, INFINITY);
        }
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_a_list),
                                       cmocka_unit_test(test_drains_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
