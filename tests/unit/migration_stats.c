/* Migration statistics: which migrations change them and which do not. */
#include "unit.h"

#include "engine/knowledge/migration_stats.h"

#include <math.h>

#define NOW 1000
#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6 * (b) + 1e-9)

/* 1,110 MiB are copied of 1,000 where a tenth is dirtied: 100 MiB/s make 11.1 s of it. */
static const struct timed_migration plain = {
    .vm = "v", .from = "a", .to = "b", .mem_mb = 1000, .dirty_mb_s = UNKNOWN, .duration_s = 11.1};

static const struct {
    const char *what;
    double mem_mb, dirty_mb_s, duration_s;
    double rate; /* 0: it teaches nothing */
} cases[] = {
    {"as the model takes it to be", 1000, UNKNOWN, 11.1, 100},
    {"the source says that nothing is dirtied", 1000, 0, 10, 100},
    {"the source says how much is", 1000, 50, 20, 100},
    {"it took no time", 1000, UNKNOWN, 0, 0},
    {"too short to be timed", 1000, UNKNOWN, 4.9, 0},
    {"the size is unknown", UNKNOWN, UNKNOWN, 10, 0},
    {"it had no memory", 0, UNKNOWN, 10, 0},
    {"slower than any link", 1000, 0, 1001, 0},
    {"faster than any link", 1e6, 0, 9, 0},
    {"it took for ever", 1000, 0, INFINITY, 0},
    {"it took who knows how long", 1000, 0, UNKNOWN, 0},
};

/* A short copy is known well enough only where the hypervisor has measured it. */
static void test_measured(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct timed_migration x = plain;

    (void)state;
    x.duration_s = 2;
    assert_false(migration_stats_take(l, &x, NOW));
    x.measured = true;
    assert_true(migration_stats_take(l, &x, NOW));
    assert_true(migration_stats_pair_rate(l, "a", "b") > 400);
    x.duration_s = 0.9;
    assert_false(migration_stats_take(l, &x, NOW));
    migration_stats_free(l);
}

static void test_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct migration_stats *l = migration_stats_new();
        struct timed_migration x = plain;

        print_message("  %s\n", cases[i].what);
        x.mem_mb = cases[i].mem_mb;
        x.dirty_mb_s = cases[i].dirty_mb_s;
        x.duration_s = cases[i].duration_s;
        assert_true(migration_stats_take(l, &x, NOW) == (cases[i].rate > 0));
        if (cases[i].rate > 0) {
            double rate = migration_stats_pair_rate(l, "a", "b");

            assert_true(fabs(rate - cases[i].rate) <
                        0.01 * rate); /* of the last round only a part is needed */
            assert_true(migration_stats_host_rate(l, "a") == rate &&
                        migration_stats_host_rate(l, "b") == rate);
        } else {
            assert_true(isnan(migration_stats_pair_rate(l, "a", "b")) &&
                        isnan(migration_stats_host_rate(l, "a")));
        }
        assert_true(isnan(migration_stats_pair_rate(l, "b", "a"))); /* the other way may be another one */
        assert_true(isnan(migration_stats_dirty(l, "v")));          /* pair and VM cannot be told apart yet */
        migration_stats_free(l);
    }
}

static void test_newest_counts_for_a_quarter(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct timed_migration x = plain;

    (void)state;
    (void)migration_stats_take(l, &x, NOW);
    x.duration_s = 5.55;
    (void)migration_stats_take(
        l, &x, NOW); /* of the same VM, so its dirty rate stays 0 at least, and what it explains */
    NEAR(migration_stats_pair_rate(l, "a", "b"), 125);
    x.to = "c";
    x.vm = "w";
    (void)migration_stats_take(l, &x, NOW);
    NEAR(migration_stats_pair_rate(l, "a", "c"), 200);
    NEAR(migration_stats_host_rate(l, "a"), 125 + 75 / 4.0);
    migration_stats_free(l);
}

/* Where the rate of the pair is known from others, the time it took tells what the VM dirties. */
static void test_dirty(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct timed_migration x = plain;

    (void)state;
    x.dirty_mb_s = 0;
    x.duration_s = 10;
    x.vm = "quiet";
    (void)migration_stats_take(l, &x, NOW);                /* 100 MiB/s */
    assert_true(isnan(migration_stats_dirty(l, "quiet"))); /* the source knows */
    x.vm = "busy";
    x.dirty_mb_s = UNKNOWN;
    x.duration_s = 20;
    (void)migration_stats_take(l, &x, NOW);
    assert_true(fabs(migration_stats_dirty(l, "busy") - 50) < 1);
    double rate = migration_stats_pair_rate(l, "a", "b");

    assert_true(rate < 100 && rate > 80); /* perhaps it was the link: a quarter of it */
    x.vm = "busier"; /* it must have been throttled: as fast as it is copied, and no faster */
    x.duration_s = 200;
    (void)migration_stats_take(l, &x, NOW);
    NEAR(migration_stats_dirty(l, "busier"), rate);
    x.vm = "still"; /* faster than the link is known to be */
    x.duration_s = 6;
    (void)migration_stats_take(l, &x, NOW);
    assert_true(migration_stats_dirty(l, "still") == 0);
    migration_stats_free(l);
}

/* The same migration again and again: what is learned of link and VM comes to explain it. */
static void test_settles(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct timed_migration x = plain;

    (void)state;
    x.duration_s = 40;
    for (int i = 0; i < 60; i++)
        (void)migration_stats_take(l, &x, NOW);
    double rate = migration_stats_pair_rate(l, "a", "b");
    double dirty = migration_stats_dirty(l, "v");

    assert_true(rate >= 25 && dirty >= 0 && dirty < rate);
    assert_true(fabs(1000 / (rate - dirty) / 40 - 1) < 0.1); /* of endless rounds: mem / (rate - dirty) */
    migration_stats_free(l);
}

/* With others on the link, it gives at least so much. */
static void test_shared(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct timed_migration x = plain;

    (void)state;
    x.shared = true;
    assert_false(migration_stats_take(l, &x, NOW));
    x.shared = false;
    assert_true(migration_stats_take(l, &x, NOW));
    x.shared = true;
    x.vm = "w";
    x.duration_s = 22.2; /* half of it was the other's */
    assert_false(migration_stats_take(l, &x, NOW));
    NEAR(migration_stats_pair_rate(l, "a", "b"), 100);
    x.duration_s = 5.55;
    assert_true(migration_stats_take(l, &x, NOW));
    NEAR(migration_stats_pair_rate(l, "a", "b"), 125);
    assert_true(isnan(migration_stats_dirty(l, "w")));
    migration_stats_free(l);
}

static void count(const char *from, const char *to, double rate_mb_s, void *ctx)
{
    int *n = ctx;

    assert_true(*from && *to && rate_mb_s > 0);
    ++*n;
}

static void test_kept_and_forgotten(void **state)
{
    struct migration_stats *l = migration_stats_new();
    struct migration_stats *again = migration_stats_new();
    struct timed_migration x = plain;
    struct rate_record pair, host, none;
    struct dirty_record dirty;
    int n = 0;

    (void)state;
    (void)migration_stats_take(l, &x, NOW);
    x.vm = "w";
    x.to = "c";
    (void)migration_stats_take(l, &x, NOW + 50);
    x.duration_s = 15;
    (void)migration_stats_take(l, &x, NOW + 50);
    assert_true(migration_stats_rate_record(l, "a", "b", &pair) &&
                migration_stats_rate_record(l, "a", "", &host) &&
                migration_stats_dirty_record(l, "w", &dirty));
    assert_false(migration_stats_rate_record(l, "c", "a", &none) ||
                 migration_stats_rate_record(l, "x", "", &none) ||
                 migration_stats_dirty_record(l, "v", &dirty));
    assert_true(migration_stats_dirty_record(l, "w", &dirty) && dirty.learned == NOW + 50 &&
                pair.learned == NOW);
    migration_stats_recall_rate(again, &pair);
    migration_stats_recall_rate(again, &host);
    migration_stats_recall_dirty(again, &dirty);
    assert_true(migration_stats_pair_rate(again, "a", "b") == pair.mb_s &&
                migration_stats_host_rate(again, "a") == host.mb_s &&
                migration_stats_dirty(again, "w") == dirty.mb_s);
    pair.mb_s = -1; /* a damaged row */
    migration_stats_recall_rate(again, &pair);
    pair.mb_s = UNKNOWN;
    migration_stats_recall_rate(again, &pair);
    assert_true(migration_stats_pair_rate(again, "a", "b") > 0);
    migration_stats_forget(l, NOW + 1);
    migration_stats_each_pair(l, count, &n);
    assert_int_equal(n, 1);
    assert_true(isnan(migration_stats_pair_rate(l, "a", "b")) && isnan(migration_stats_host_rate(l, "b")));
    assert_true(migration_stats_pair_rate(l, "a", "c") > 0 && migration_stats_host_rate(l, "a") > 0);
    migration_stats_forget(l, NOW + 51);
    assert_true(isnan(migration_stats_host_rate(l, "a")) && isnan(migration_stats_dirty(l, "w")));
    migration_stats_free(l);
    migration_stats_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_newest_counts_for_a_quarter),
        cmocka_unit_test(test_dirty),
        cmocka_unit_test(test_settles),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_kept_and_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
