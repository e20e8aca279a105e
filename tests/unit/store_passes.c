/* Passes in the store: listed without their texts, read with them, and limited in number. */
#include "store_place.h"

#include "base/cleanup.h"
#include "store/passes.h"

#include <errno.h>

static void put_pass(struct store *s, uint64_t id, const char *snapshot)
{
    struct err err = {0};
    const struct pass_record pass = {.id = id,
                                     .time = (instant_s)(id * 300),
                                     .trigger = "interval",
                                     .imbalance_before = 0.25,
                                     .imbalance_after = 0.125,
                                     .target = 0.05,
                                     .n_recommendations = 3,
                                     .n_faults = 1,
                                     .decide_us = 1234,
                                     .held_back = HELD_BACK_STANDBY,
                                     .snapshot = snapshot,
                                     .plan = "{\"plan\": 1}"};
    int r = store_sqlite.put(s, &(struct record){RECORD_PASS, .pass = &pass}, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
}

static int get_pass(struct store *s, int64_t id, struct arena *a, struct pass_record *ret, struct err *err)
{
    struct records found = {0};
    int r = store_sqlite.list(s, QUERY_PASS, id, a, &found, err);

    if (r == 0)
        *ret = *found.passes;
    return r;
}

static void test_pages(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct pass_query q = {.limit = 2};
    struct stored_snapshot snapshot;
    struct kept_pass *list = NULL;
    struct err err = {0};
    const char *text = NULL;
    uint64_t more = 0;
    struct place p;
    size_t n = 0;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (uint64_t id = 1; id <= 5; id++)
        put_pass(s, id, id == 4 ? NULL : "{\"snapshot\": 1}");
    assert_int_equal(store_list_passes(s, &q, &a, &list, &n, &more, &err), 0);
    assert_true(n == 2 && more == 3 && list[0].is.id == 5 && list[0].has_snapshot && !list[1].has_snapshot);
    q.before = 4;
    assert_int_equal(store_list_passes(s, &q, &a, &list, &n, &more, &err), 0);
    assert_true(n == 2 && more == 1 && list[0].is.id == 3 && list[1].is.time == 600);
    q.since = 900;
    assert_int_equal(store_list_passes(s, &q, &a, &list, &n, &more, &err), 0);
    assert_true(n == 1 && more == 0 && list[0].is.id == 3);
    assert_int_equal(store_read_snapshot(s, 3, &snapshot, &err), 0);
    assert_int_equal(snapshot.held_back, HELD_BACK_STANDBY);
    assert_string_equal(snapshot.trigger, "interval");
    assert_int_equal(store_snapshot_text(&snapshot, &a, &text), 0);
    assert_string_equal(text, "{\"snapshot\": 1}");
    snapshot.len /= 2;
    assert_int_equal(store_snapshot_text(&snapshot, &a, &text), -EIO);
    store_snapshot_release(&snapshot);
    assert_int_equal(store_read_snapshot(s, 4, &snapshot, &err), 0);
    assert_null(snapshot.data);
    assert_int_equal(store_read_snapshot(s, 6, &snapshot, &err), -ENOENT);
    store_close(s);
    remove_all(p.dir);
}

static void test_passes(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    struct pass_record pass = {0};
    struct records found;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (uint64_t id = 1; id <= 5; id++)
        put_pass(s, id, id == 3 ? "" : "{\"snapshot\": \"\xc3\xa9\"}");
    assert_int_equal(store_sqlite.list(s, QUERY_PASSES, 3, &a, &found, &err), 0);
    assert_int_equal(found.n, 3);
    assert_true(found.passes[0].id == 5 && found.passes[2].id == 3 && found.passes[0].time == 1500 &&
                !found.passes[0].snapshot);
    assert_int_equal(get_pass(s, 2, &a, &pass, &err), 0);
    assert_string_equal(pass.snapshot, "{\"snapshot\": \"\xc3\xa9\"}");
    assert_string_equal(pass.plan, "{\"plan\": 1}");
    assert_string_equal(pass.trigger, "interval");
    assert_true(pass.n_recommendations == 3 && pass.n_faults == 1 && pass.decide_us == 1234 &&
                pass.imbalance_after == 0.125);
    assert_int_equal(get_pass(s, 3, &a, &pass, &err), 0);
    assert_string_equal(pass.snapshot, "");
    put_pass(s, 6, NULL); /* kept without what it was made of */
    assert_int_equal(get_pass(s, 6, &a, &pass, &err), 0);
    assert_null(pass.snapshot);
    assert_int_equal(get_pass(s, 77, &a, &pass, &err), -ENOENT);
    assert_int_equal(store_sqlite.prune(s, &(struct retention){.passes_kept = 3}, &err), 0);
    assert_int_equal(store_sqlite.list(s, QUERY_PASSES, 10, &a, &found, &err), 0);
    assert_int_equal(found.n, 3);
    assert_true(found.passes[2].id == 4);
    assert_int_equal(must_load(s, &a).last_pass, 6);
    store_close(s);
    tamper(
        &p,
        "UPDATE passes SET snapshot = x'0102' WHERE id = 4; UPDATE passes SET plan_size = -1 WHERE id = 5");
    s = must_open(&p);
    assert_int_equal(get_pass(s, 4, &a, &pass, &err), -EIO);
    assert_non_null(strstr(err.text, "damaged pass"));
    assert_int_equal(get_pass(s, 5, &a, &pass, &err), -EIO);
    store_close(s);
    remove_all(p.dir);
}

/* Noise does not shrink: ten passes of 300 kB do not fit into one MiB, and the newest stay. */
static void test_passes_fit(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct store *s = NULL;
    struct err err = {0};
    struct records found;
    size_t size = 400000;
    char *noise = arena_array(&a, char, size + 1);
    unsigned x = 1;

    (void)state;
    place_make(&p);
    assert_int_equal(store_open(p.state, 1, &s, &err), 0);
    for (size_t i = 0; i < size; i++) {
        x = x * 1103515245u + 12345u;
        noise[i] = (char)(1 + (x >> 16) % 255);
    }
    for (uint64_t id = 1; id <= 10; id++)
        put_pass(s, id, noise);
    assert_int_equal(store_sqlite.list(s, QUERY_PASSES, 100, &a, &found, &err), 0);
    assert_int_equal(found.n, 2);
    assert_true(found.passes[0].id == 10 && found.passes[1].id == 9);
    store_close(s);
    assert_int_equal(store_open(p.state, 0, &s, &err), 0);
    put_pass(s, 11, noise); /* too large for all there is: kept all the same */
    assert_int_equal(store_sqlite.list(s, QUERY_PASSES, 100, &a, &found, &err), 0);
    assert_int_equal(found.n, 1);
    assert_true(found.passes[0].id == 11);
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_passes_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
