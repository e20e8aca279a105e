/* The queue of a simulated cluster, compared with a plain list. */
#include "unit.h"

#include "base/random.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_a_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
