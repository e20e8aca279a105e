/* Demand profiles in the store: the cluster's demand at each time of the day. */
#include "store_place.h"

#include "base/cleanup.h"

#include <math.h>

/* Quarters of an hour; one that was not watched has figures that are not known. */
static void test_patterns(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    const struct demand_profile_record records[] = {
        {900, {1, 2}, {3, 4}, {5, 6}, {UNKNOWN, UNKNOWN}, 0, 0, 0},
        {2700, {UNKNOWN, UNKNOWN}, {UNKNOWN, UNKNOWN}, {UNKNOWN, UNKNOWN}, {7.5, UNKNOWN}, 8, 9, 2},
        {1800, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, 1, 1},
        {1800, {2, 2}, {2, 2}, {2, 2}, {2, 2}, 2, 2, 2},
    };

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (size_t i = 0; i < ELEMENTS(records); i++) /* the last one replaces the third */
        assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_PATTERN, .pattern = &records[i]}, &err),
                         0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_patterns, 3);
    assert_true(all.patterns[0].time == 900 && all.patterns[0].mean[RES_MEM] == 2 &&
                all.patterns[0].peak[RES_CPU] == 3 && all.patterns[0].size[RES_MEM] == 6 &&
                isnan(all.patterns[0].expected[RES_CPU]));
    assert_true(all.patterns[1].mean[RES_CPU] == 2 && all.patterns[1].woken == 2);
    assert_true(isnan(all.patterns[2].peak[RES_MEM]) && all.patterns[2].expected[RES_CPU] == 7.5 &&
                all.patterns[2].days == 8 && all.patterns[2].of == 9);
    assert_int_equal(
        store_sqlite.prune(s, &(struct retention){.patterns_before = 1800, .passes_kept = 9}, &err), 0);
    assert_int_equal(must_load(s, &a).n_patterns, 2);
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
