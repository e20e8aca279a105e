/* A month of looks: minutes last a day, quarters of an hour last a month, and the store stays within its
 * limit: what is deleted first is the oldest. In a long run 1,000 VMs, seen each minute as by a service; else
 * fewer, each five minutes. */
#include "store_place.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "store/internal.h"
#include "store/limit.h"
#include "store/series.h"

#include <inttypes.h>

#define START 1767571200
#define DAY_S 86400
#define DAYS 31
#define HISTORY_DAYS 30
#define MIB (1024 * 1024)
#define HOUR_S 3600
#define GENEROUS_MB 4096
#define N_ACTIONS 50

static struct {
    struct place place;
    struct store *store;
    struct look_object *objects;
    size_t n_vms;
    instant_s look_s, now;
    struct rng rng;
    struct arena a;
    uint64_t n_passes;
} M;

static bool is_long(void)
{
    return getenv("BALLAST_TEST_LONG") && !getenv("BALLAST_TEST_SLOW");
}

/* A transaction waits for the disk: there are 45,000. */
static void make_place(void)
{
    (void)snprintf(M.place.dir, sizeof M.place.dir, "%s/ballast-month-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(M.place.dir));
    (void)snprintf(M.place.state, sizeof M.place.state, "%s/state", M.place.dir);
    (void)snprintf(M.place.db, sizeof M.place.db, "%s/ballast.db", M.place.state);
}

static int64_t number(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;

    assert_int_equal(sqlite3_open(M.place.db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(st, 0);

    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return n;
}

static double cpu_of(size_t vm)
{
    return 50.0 + (double)(vm * 7919 % 4000);
}

static void fill_objects(void)
{
    for (size_t i = 0; i < M.n_vms; i++) {
        const double mem = 512.0 + (double)(i * 104729 % 16000);
        double *of = M.objects[i].of;

        of[LOOK_CPU_DEMAND] = of[LOOK_CPU_ENTITLEMENT] = cpu_of(i) * (0.9 + 0.2 * rng_unit(&M.rng));
        of[LOOK_CPU_DELIVERED] = of[LOOK_CPU_DEMAND] * (1 - 0.02 * rng_unit(&M.rng));
        of[LOOK_MEM_DEMAND] = of[LOOK_MEM_ENTITLEMENT] = mem * (0.99 + 0.02 * rng_unit(&M.rng));
        of[LOOK_MEM_DELIVERED] = mem * 1.2;
        of[LOOK_CPU_SCORE] = 100 * of[LOOK_CPU_DELIVERED] / of[LOOK_CPU_DEMAND];
        of[LOOK_MEM_SCORE] = 100;
    }
}

static struct store_size size_now(void)
{
    struct store_size ret;
    struct err err = {0};

    assert_int_equal(store_size(M.store, &ret, &err), 0);
    return ret;
}

static void put_pass(void)
{
    static char text[20000];
    const struct pass_record pass = {
        .id = ++M.n_passes, .time = M.now, .trigger = "interval", .snapshot = text, .plan = "{}"};
    struct err err = {0};

    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)('0' + rng_below(&M.rng, 64));
    assert_int_equal(store_sqlite.put(M.store, &(struct record){RECORD_PASS, .pass = &pass}, &err), 0);
}

/* A look, and each hour what the engine does then. */
static void go_on(void)
{
    const struct retention keep = {.looks_before = M.now - HISTORY_DAYS * DAY_S, .passes_kept = 2000};
    const struct look look = {
        .time = M.now + M.look_s, .covers_s = M.look_s, .objects = M.objects, .n = M.n_vms};
    struct err err = {0};

    if (M.now % HOUR_S == 0) {
        put_pass();
        assert_int_equal(store_sqlite.prune(M.store, &keep, &err), 0);
    }
    M.now += M.look_s;
    fill_objects();
    assert_int_equal(store_sqlite.begin(M.store, &err), 0);
    if (store_sqlite.put_look(M.store, &look, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(store_sqlite.commit(M.store, &err), 0);
}

static void put_actions(void)
{
    struct err err = {0};

    for (uint64_t i = 1; i <= N_ACTIONS; i++) {
        struct action_record x = bare;

        x.id = i;
        x.uid = arena_printf(&M.a, "uid-%" PRIu64, i);
        x.state = i % 2 ? ACTION_APPROVED : ACTION_RECOMMENDED;
        if (store_sqlite.put(M.store, &(struct record){RECORD_ACTION, .action = &x}, &err) < 0)
            fail_msg("%s", err.text);
    }
}

static void check_actions(void)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct stored all = must_load(M.store, &a);

    assert_int_equal(all.n_actions, N_ACTIONS);
    for (size_t i = 0; i < all.n_actions; i++)
        assert_int_equal(all.actions[i].state, all.actions[i].id % 2 ? ACTION_APPROVED : ACTION_RECOMMENDED);
}

static struct series read_vm(size_t vm, instant_s since, instant_s step_s, struct arena *a)
{
    const struct series_query q = {
        .kind = LOOK_VM, .id = M.objects[vm].id, .since = since, .until = M.now, .step_s = step_s};
    struct series ret;
    struct err err = {0};

    if (store_series(M.store, &q, a, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret;
}

/* No gap, and each mean is near the level of the VM. */
static void check_series(size_t vm, instant_s since, instant_s step_s, size_t n)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct series is = read_vm(vm, since, step_s, &a);

    assert_int_equal(is.step_s, step_s);
    assert_in_range(is.n, n - 2, n + 2);
    for (size_t i = 0; i < is.n; i++)
        assert_within(is.of[i][LOOK_CPU_DEMAND], cpu_of(vm), 0.11 * cpu_of(vm));
}

static void check_kept(instant_s means_s, instant_s looks_s)
{
    instant_s means, looks;
    struct err err = {0};

    assert_int_equal(store_series_kept(M.store, &means, &looks, &err), 0);
    if (means_s > 0)
        assert_within((double)(M.now - means), (double)means_s, SERIES_SPAN_S + HOUR_S);
    assert_within((double)(M.now - looks), (double)looks_s, 2.0 * (double)M.look_s);
}

static void check_disk_warnings(void)
{
    assert_null(store_size_warning(
        &(struct store_size){
            .used_bytes = 1, .limit_bytes = 100, .disk_bytes = 1 << 30, .disk_free_bytes = 1 << 29},
        &M.a));
    assert_non_null(strstr(
        store_size_warning(
            &(struct store_size){.limit_bytes = 100, .disk_bytes = 1 << 30, .disk_free_bytes = 1 << 20},
            &M.a),
        "1 MiB are left"));
}

/* ---- the month, then less space --------------------------------------------------------------- */

static void live_a_month(void)
{
    const instant_s point_s = M.look_s > SERIES_STEP_LEAST_S ? M.look_s : SERIES_STEP_LEAST_S;

    store_set_limit(M.store, GENEROUS_MB);
    while (M.now < START + DAYS * DAY_S)
        go_on();
    assert_null(store_size_warning(
        &(struct store_size){.used_bytes = size_now().used_bytes, .limit_bytes = (uint64_t)GENEROUS_MB * MIB},
        &M.a));
    check_kept(HISTORY_DAYS * DAY_S, DAY_S);
    const instant_s kept = number("SELECT min(id) >> 24 FROM mean_blocks");

    for (size_t vm = 0; vm < M.n_vms; vm += M.n_vms / 3) {
        check_series(vm, M.now - DAY_S, point_s, (size_t)(DAY_S / point_s));
        check_series(vm, START, LOOK_MEANS_S, (size_t)((M.now - kept) / LOOK_MEANS_S));
    }
    assert_within((double)number("SELECT count(*) FROM looks"), (double)(DAY_S / M.look_s), 2);
    assert_within((double)number("SELECT count(DISTINCT id >> 24) FROM mean_blocks"),
                  (double)HISTORY_DAYS * DAY_S / SERIES_SPAN_S, 2);
    const double all = (double)number("SELECT sum(length(data)) FROM look_blocks") +
                       (double)number("SELECT sum(length(data)) FROM mean_blocks");

    print_message("%zu VMs, a look each %d s: %.1f KB a VM with a day and a month, the store %.1f MiB\n",
                  M.n_vms, (int)M.look_s, all / 1000 / (double)M.n_vms, (double)size_now().used_bytes / MIB);
}

/* Space for half of the means: passes go first, then the oldest means; what is left is whole. */
static void live_with_half(void)
{
    const int64_t means_bytes = number("SELECT sum(length(data)) FROM mean_blocks");
    struct err err = {0};

    assert_int_equal(store_sqlite.prune(M.store, &(struct retention){.passes_kept = 1}, &err), 0);
    const uint64_t limit = size_now().used_bytes - (uint64_t)means_bytes / 2;
    const instant_s until = M.now + 2 * DAY_S;
    int64_t oldest = number("SELECT min(id) FROM mean_blocks");
    uint64_t before = size_now().used_bytes;

    M.store->limit_bytes = (int64_t)limit;
    while (M.now < until) {
        go_on();
        const struct store_size is = size_now();
        const int64_t now = number("SELECT min(id) FROM mean_blocks");

        assert_true(is.used_bytes <= limit || is.used_bytes < before);
        if (number("SELECT count(*) FROM passes") > 1)
            assert_int_equal(now, oldest); /* means stay while there are passes */
        assert_true(now >= oldest);
        oldest = now;
        before = is.used_bytes;
    }
    assert_true(before <= limit);
    assert_int_equal(number("SELECT count(*) FROM passes"), 1);
    check_kept(0, DAY_S);
    check_series(1, oldest >> 24, LOOK_MEANS_S, (size_t)((M.now - (oldest >> 24)) / LOOK_MEANS_S));
    const struct store_size is = size_now();
    const char *warning = store_size_warning(&is, &M.a);

    assert_non_null(strstr(warning, "beyond that the oldest passes and figures over time are deleted"));
    assert_non_null(strstr(warning, arena_printf(&M.a, "go back %.1f days", (double)is.figures_s / DAY_S)));
    check_actions();
}

/* What a limit that is too small for a day leaves: the newest looks; and the warning says so. */
static void check_little(int64_t limit)
{
    instant_s means, looks;
    struct err err = {0};

    M.store->limit_bytes = limit;
    for (int k = 0; k < DAY_S / M.look_s + 300; k++)
        go_on();
    const struct store_size is = size_now();

    assert_int_equal(store_series_kept(M.store, &means, &looks, &err), 0);
    assert_true(M.now - looks < DAY_S * 3 / 4 && is.figures_s < DAY_S);
    assert_int_equal(number("SELECT min(id) >> 24 FROM look_blocks"), looks + M.look_s);
    assert_int_equal(number("SELECT max(time) FROM looks"), M.now);
    assert_non_null(strstr(store_size_warning(&is, &M.a), "too small for this cluster"));
    check_actions();
}

/* Even one look is too much: it stays. Then space for half a day. */
static void live_with_little(void)
{
    const int64_t looks_bytes = number("SELECT sum(length(data)) FROM look_blocks");

    check_little(1);
    assert_int_equal(number("SELECT count(*) FROM looks"), 1);
    check_little((int64_t)size_now().used_bytes + looks_bytes / 2);
    const instant_s since = number("SELECT min(time) FROM looks");

    assert_true(M.now - since > HOUR_S);
    check_series(1, since, LOOK_MEANS_S, (size_t)((M.now - since) / LOOK_MEANS_S)); /* no means: of looks */
    assert_true(size_now().used_bytes <= (uint64_t)M.store->limit_bytes);
}

static void test_month(void **state)
{
    (void)state;
    M.n_vms = is_long() ? 1000 : 60;
    M.look_s = is_long() ? 60 : 300;
    M.now = START;
    M.rng = (struct rng){11};
    M.objects = arena_array(&M.a, struct look_object, M.n_vms);
    for (size_t i = 0; i < M.n_vms; i++) {
        M.objects[i] = (struct look_object){.kind = LOOK_VM, .id = arena_printf(&M.a, "vm-%zu", i)};
        for (int f = 0; f < look_figure_count; f++)
            M.objects[i].of[f] = UNKNOWN;
    }
    make_place();
    M.store = must_open(&M.place);
    put_actions();
    live_a_month();
    live_with_half();
    live_with_little();
    check_disk_warnings();
    store_close(M.store);
    remove_all(M.place.dir);
    arena_release(&M.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_month)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
