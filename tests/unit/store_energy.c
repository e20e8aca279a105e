/* The energy account in the store. */
#include "store_place.h"

#include <math.h>

#define DAY ((instant_s)20000 * ENERGY_DAY_S)

static struct energy_record hour(const char *host, instant_s time, double k)
{
    return (struct energy_record){.host = host,
                                  .time = time,
                                  .length_s = ENERGY_HOUR_S,
                                  .until = time + ENERGY_HOUR_S,
                                  .span_s = 3600,
                                  .host_s = 3600,
                                  .unknown_s = k,
                                  .measured_s = 2 * k,
                                  .asleep_s = 3 * k,
                                  .used_wh = 100 * k,
                                  .all_on_wh = 150 * k,
                                  .wanted = {1000 * k, 2000 * k},
                                  .unmet = {10 * k, 20 * k},
                                  .scale = UNKNOWN};
}

static void must_put(struct store *s, const struct energy_record *r)
{
    struct err err = {0};

    if (store_sqlite.put(s, &(struct record){RECORD_ENERGY, .energy = r}, &err) < 0)
        fail_msg("%s", err.text);
}

static size_t list(struct store *s, instant_s since, bool of_hosts, struct arena *a,
                   struct energy_record **ret)
{
    struct err err = {0};
    struct records found = {0};

    if (store_sqlite.list(s, of_hosts ? QUERY_HOST_ENERGY : QUERY_ENERGY, since, a, &found, &err) < 0)
        fail_msg("%s", err.text);
    *ret = found.energy;
    return found.n;
}

static void assert_figures(const struct energy_record *r, double k)
{
    assert_within(r->unknown_s, k, 1e-9);
    assert_within(r->measured_s, 2 * k, 1e-9);
    assert_within(r->asleep_s, 3 * k, 1e-9);
    assert_within(r->used_wh, 100 * k, 1e-9);
    assert_within(r->all_on_wh, 150 * k, 1e-9);
    for (int i = 0; i < RES_COUNT; i++) {
        assert_within(r->wanted[i], 1000 * k * (i + 1), 1e-9);
        assert_within(r->unmet[i], 10 * k * (i + 1), 1e-9);
    }
}

/* A row is replaced, not added to, and is there after a restart. */
static void test_put_and_load(void **state)
{
    struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);
    struct energy_record r = hour("esx1", DAY, 1);

    must_put(s, &r);
    r = hour("esx1", DAY, 2);
    r.scale = 1.25;
    r.until = DAY + 60;
    must_put(s, &r);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_energy, 1);
    assert_figures(&all.energy[0], 2);
    assert_string_equal(all.energy[0].host, "esx1");
    assert_int_equal(all.energy[0].time, DAY);
    assert_int_equal(all.energy[0].until, DAY + 60);
    assert_int_equal(all.energy[0].length_s, ENERGY_HOUR_S);
    assert_within(all.energy[0].scale, 1.25, 0);
    store_close(s);
    remove_all(p.dir);
    arena_release(&a);
}

/* Two hosts over three days, with the cluster's rows. */
static void fill(struct store *s)
{
    for (int h = 0; h < 72; h++) {
        const struct energy_record rows[] = {hour("", DAY + h * 3600, 3), hour("esx1", DAY + h * 3600, 1),
                                             hour("esx2", DAY + h * 3600, 2)};

        for (size_t i = 0; i < ELEMENTS(rows); i++)
            must_put(s, &rows[i]);
    }
}

static void test_list(void **state)
{
    struct arena a = {0};
    struct place p;
    struct energy_record *rows;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    fill(s);
    assert_int_equal(list(s, 0, false, &a, &rows), 72);
    assert_figures(&rows[71], 3);
    assert_int_equal(list(s, DAY + 70 * 3600 + 1800, false, &a, &rows),
                     2); /* the hour that it is in counts */
    assert_int_equal(rows[0].time, DAY + 70 * 3600);
    assert_int_equal(list(s, DAY + 70 * 3600, false, &a, &rows), 2);
    assert_int_equal(list(s, DAY + 62 * 3600, true, &a, &rows), 2);
    assert_string_equal(rows[0].host, "esx1");
    assert_figures(&rows[0], 10);
    assert_figures(&rows[1], 20);
    assert_int_equal(rows[1].time, DAY + 62 * 3600);
    assert_within(rows[1].span_s, 36000, 0);
    assert_int_equal(list(s, DAY + 72 * 3600, true, &a, &rows), 0);
    store_close(s);
    remove_all(p.dir);
    arena_release(&a);
}

/* What is older than a week is kept by the day: the sums stay what they were, however often it is done, and
 * also when an hour turns up late. What is too old is gone. */
static void test_prune(void **state)
{
    struct arena a = {0};
    struct place p;
    struct energy_record *rows;
    struct err err = {0};
    struct retention keep = {.passes_kept = 10, .energy_days_before = DAY + 2 * ENERGY_DAY_S};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    fill(s);
    for (int i = 0; i < 3; i++) { /* a day at a time */
        assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
        assert_int_equal(list(s, 0, false, &a, &rows), i == 0 ? 1 + 48 : 2 + 24);
    }
    assert_int_equal(rows[0].length_s, ENERGY_DAY_S);
    assert_int_equal(rows[0].time, DAY);
    assert_int_equal(rows[0].until, DAY + ENERGY_DAY_S);
    assert_figures(&rows[0], 3 * 24);
    assert_int_equal(rows[2].length_s, ENERGY_HOUR_S);
    assert_int_equal(list(s, 0, true, &a, &rows), 2);
    assert_figures(&rows[1], 2 * 72);
    struct energy_record late = hour("esx2", DAY + 5 * 3600, 4);

    must_put(s, &late);
    assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
    assert_int_equal(list(s, 0, true, &a, &rows), 2);
    assert_figures(&rows[1], 2 * 72 + 4);
    keep.energy_before = DAY + ENERGY_DAY_S;
    assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
    assert_int_equal(list(s, 0, false, &a, &rows), 1 + 24);
    keep.energy_before = INT64_MAX; /* another source's */
    assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
    assert_int_equal(list(s, 0, false, &a, &rows), 0);
    store_close(s);
    remove_all(p.dir);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_and_load),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_prune),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
