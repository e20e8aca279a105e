/* The store of a simulated service: what it keeps, and what it counts. What a restart finds is of the store
 * itself (store.c). */
#include "unit.h"

#include "base/cleanup.h"
#include "sim/run/counted_store.h"

#define T 1767571200

static struct store *open_one(void)
{
    struct store *s = NULL;
    struct err err = {0};

    if (counted_store_open(NULL, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

static void put(struct store *s, struct record record)
{
    struct err err = {0};

    if (counted_store.put(s, &record, &err) < 0)
        fail_msg("%s", err.text);
}

static struct stored load(struct store *s, struct arena *a)
{
    struct stored ret;

    assert_int_equal(counted_store.load(s, 0, 0, a, &ret, NULL), 0);
    return ret;
}

static struct store_counts counts_of(struct store *s)
{
    struct store_counts ret;

    assert_int_equal(counted_store_get(s, &ret, NULL), 0);
    return ret;
}

static void test_restart(void **state)
{
    const struct sample_record samples[] = {{.vm = "vm-a", .time = T - 1, .demand = {1, 2}},
                                            {.vm = "vm-a", .time = T, .demand = {3, 4}}};
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        struct store *s = open_one();

        assert_string_equal(load(s, &a).instance, "simulated");
        if (keep)
            counted_store_skip_samples(s, T);
        assert_int_equal(counted_store.begin(s, NULL), 0);
        for (int i = 0; i < 2; i++)
            put(s, (struct record){RECORD_SAMPLE, .sample = &samples[i]});
        put(s, (struct record){RECORD_NOTE, .note = &(struct note){"source", "x"}});
        put(s, (struct record){RECORD_NOTE, .note = &(struct note){"frozen", "y"}});
        assert_int_equal(counted_store.forget(
                             s, &(struct record){RECORD_NOTE, .note = &(struct note){"frozen", NULL}}, NULL),
                         0);
        assert_int_equal(counted_store.commit(s, NULL), 0);

        const struct stored got = load(s, &a);

        assert_string_equal(got.instance, "simulated");
        assert_int_equal(got.n_samples, keep);
        assert_int_equal(got.n_notes, 1);
        assert_string_equal(got.notes[0].key, "source");
        counted_store_close(s);
    }
}

static void test_moves(void **state)
{
    struct store *s = open_one();
    struct action_record r = {.id = 1,
                              .uid = "u",
                              .state = ACTION_DONE,
                              .kind = ACTION_MIGRATE,
                              .vm = "vm-a",
                              .started = T,
                              .ended = T + 60,
                              .result = {.predicted_at = T, .duration_s = UNKNOWN}};

    (void)state;
    put(s, (struct record){RECORD_ACTION, .action = &r});
    assert_int_equal(counts_of(s).moves.n[false], 0);
    r.result.observed_at = T + 660;
    put(s, (struct record){RECORD_ACTION, .action = &r});
    r.id = 2;
    r.uid = "v";
    r.duration_s = r.result.duration_s = 60;
    r.result.overlaps = true;
    r.result.harm = 1;
    put(s, (struct record){RECORD_ACTION, .action = &r});

    const struct move_counts m = counts_of(s).moves;

    assert_int_equal(m.n[false], 1);
    assert_int_equal(m.as_predicted[false], 1);
    assert_int_equal(m.timed[false], 0);
    assert_int_equal(m.n[true], 1);
    assert_int_equal(m.timed[true], 1);
    assert_int_equal(m.times_as_predicted[true], 1);
    assert_int_equal(m.harmful, 1);
    counted_store_close(s);
}

/* Days after the service has forgotten what was drawn, the sum is that of the whole run. */
static void test_energy_and_passes(void **state)
{
    struct store *s = open_one();
    struct energy_record r = {.length_s = ENERGY_HOUR_S, .scale = UNKNOWN};

    (void)state;
    for (instant_s t = T; t < T + 30 * ENERGY_DAY_S; t += ENERGY_HOUR_S) {
        r.time = t;
        r.until = t + ENERGY_HOUR_S;
        for (int i = 0; i < 3; i++) { /* an hour that goes on is stored anew */
            r.used_wh = 50 * i;
            r.host = "h1";
            put(s, (struct record){RECORD_ENERGY, .energy = &r});
            r.host = "";
            put(s, (struct record){RECORD_ENERGY, .energy = &r});
        }
        const struct pass_record pass = {
            .id = (uint64_t)(t - T) / ENERGY_HOUR_S + 1, .time = t, .trigger = "interval", .decide_us = 5};
        const struct retention keep = {.energy_before = t - 7 * ENERGY_DAY_S,
                                       .energy_days_before = t - t % ENERGY_DAY_S - 8 * ENERGY_DAY_S};

        put(s, (struct record){RECORD_PASS, .pass = &pass});
        assert_int_equal(counted_store.prune(s, &keep, NULL), 0);
    }
    assert_true(counts_of(s).energy.used_wh == 30 * 24 * 100);
    assert_int_equal(counts_of(s).decide_us, 30 * 24 * 5);

    CLEANUP(arena_releasep) struct arena a = {0};
    struct records hosts;

    assert_int_equal(counted_store.list(s, QUERY_HOST_ENERGY, 0, &a, &hosts, NULL), 0);
    assert_int_equal(hosts.n, 1);
    assert_true(hosts.energy[0].used_wh == 30 * 24 * 100);
    assert_int_equal(load(s, &a).last_pass, 30 * 24);
    counted_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_energy_and_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
