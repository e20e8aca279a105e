/* The store: every record that was put can be read. store_faults.c tests faults. */
#include "store_place.h"

#include "base/cleanup.h"
#include "store/events.h"
#include "store/internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

/* Of a record of that kind, into s. */
#define PUT(kind_, ...) store_sqlite.put(s, &(struct record){RECORD_##kind_, __VA_ARGS__}, &err)

static void assert_same_text(const char *a, const char *b)
{
    if (!a || !b)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static void assert_same_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void assert_same_action(const struct action_record *a, const struct action_record *b)
{
    assert_true(a->id == b->id && a->pass == b->pass && a->state == b->state && a->kind == b->kind);
    assert_true(a->priority == b->priority && a->reason == b->reason && a->group == b->group);
    assert_same_text(a->uid, b->uid);
    assert_same_text(a->vm, b->vm);
    assert_same_text(a->from, b->from);
    assert_same_text(a->to, b->to);
    assert_same_text(a->host, b->host);
    assert_same_text(a->rule, b->rule);
    assert_same_text(a->text, b->text);
    assert_same_text(a->approved_by, b->approved_by);
    assert_same_text(a->ended_by, b->ended_by);
    assert_int_equal(a->unclear, b->unclear);
    assert_int_equal(a->refused, b->refused);
    assert_int_equal(a->version, b->version);
    assert_same_text(a->former_to, b->former_to);
    assert_int_equal(a->redirected, b->redirected);
    assert_same_text(a->task, b->task);
    assert_same_text(a->why, b->why);
    assert_int_equal(a->n_depends_on, b->n_depends_on);
    for (uint32_t i = 0; i < a->n_depends_on; i++)
        assert_true(a->depends_on[i] == b->depends_on[i]);
    assert_same_number(a->imbalance_after, b->imbalance_after);
    assert_same_number(a->duration_s, b->duration_s);
    for (int r = 0; r < RES_COUNT; r++) {
        assert_same_number(a->cost[r], b->cost[r]);
        assert_same_number(a->benefit[r], b->benefit[r]);
    }
    assert_true(a->attempts == b->attempts && a->cancel_asked == b->cancel_asked);
    assert_true(a->created == b->created && a->seen == b->seen && a->approved == b->approved);
    assert_true(a->started == b->started && a->ended == b->ended);
    const struct move_result *p = &a->result;
    const struct move_result *q = &b->result;

    assert_true(p->predicted_at == q->predicted_at && p->observed_at == q->observed_at);
    assert_true(p->overlaps == q->overlaps);
    assert_same_number(p->harm, q->harm);
    assert_same_number(p->vm_lack[0], q->vm_lack[0]);
    assert_same_number(p->vm_lack[1], q->vm_lack[1]);
    assert_same_number(p->duration_s, q->duration_s);
    for (int i = 0; i < MOVE_HOSTS * RES_COUNT; i++) {
        assert_same_number(p->predicted[i / RES_COUNT][i % RES_COUNT],
                           q->predicted[i / RES_COUNT][i % RES_COUNT]);
        assert_same_number(p->observed[i / RES_COUNT][i % RES_COUNT],
                           q->observed[i / RES_COUNT][i % RES_COUNT]);
    }
}

/* ---- what is put is there again ---- */

static int put_samples(struct store *s, const struct sample_record *samples, size_t n, struct err *err)
{
    int r = store_sqlite.begin(s, err);

    for (size_t i = 0; r == 0 && i < n; i++)
        r = store_sqlite.put(s, &(struct record){RECORD_SAMPLE, .sample = &samples[i]}, err);
    return r == 0 ? store_sqlite.commit(s, err) : r;
}

static void test_new(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct stat st;

    (void)state;
    place_make(&p);
    mode_t before = umask(0);
    struct store *s = must_open(&p);
    struct stored first = must_load(s, &a);

    (void)umask(before);
    assert_int_equal(strlen(first.instance), 16);
    assert_true(first.last_action == 0 && first.last_pass == 0 && first.n_actions == 0 && first.n_notes == 0);
    assert_int_equal(stat(p.state, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(p.db, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    store_close(s);
    s = must_open(&p);
    assert_string_equal(must_load(s, &a).instance, first.instance);
    store_close(s);
    remove_all(p.dir);
}

static void test_actions(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    struct action_record ended = full, twin = bare;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(PUT(ACTION, .action = &full), 0);
    assert_int_equal(PUT(ACTION, .action = &bare), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_actions, 2);
    assert_int_equal(all.last_action, 8);
    assert_same_action(&all.actions[0], &full);
    assert_same_action(&all.actions[1], &bare);
    ended.state = ACTION_DONE;
    ended.ended = 3000;
    assert_int_equal(PUT(ACTION, .action = &ended), 0);
    all = must_load(s, &a);
    assert_int_equal(all.n_actions, 2);
    assert_same_action(&all.actions[0], &ended);
    assert_int_equal(store_sqlite.load(s, 3001, 0, &a, &all, &err), 0);
    assert_int_equal(all.n_actions, 1); /* ended before: not needed any more */
    twin.id = 9;                        /* the uid of another one: refused, and the other one stays */
    assert_int_equal(PUT(ACTION, .action = &twin), -EINVAL);
    assert_int_equal(must_load(s, &a).n_actions, 2);
    store_close(s);
    remove_all(p.dir);
}

static void test_numbers_are_given_once(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    struct action_record ended = bare;
    const struct retention keep = {.samples_before = 0, .ended_before = 5000, .passes_kept = 0};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    ended.ended = 4000;
    ended.state = ACTION_REJECTED;
    assert_int_equal(PUT(ACTION, .action = &ended), 0);
    assert_int_equal(
        store_sqlite.put(
            s,
            &(struct record){
                RECORD_PASS,
                .pass = &(struct pass_record){.id = 12, .trigger = "run", .snapshot = "{}", .plan = "{}"}},
            &err),
        0);
    assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_actions, 0);
    assert_int_equal(all.last_action, 8);
    assert_int_equal(all.last_pass, 12);
    store_close(s);
    remove_all(p.dir);
}

static void test_the_rest(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    const struct migration_record m = {.action = 7,
                                       .vm = "v",
                                       .from = "a",
                                       .to = "b",
                                       .started = 10,
                                       .ended = 20,
                                       .mem_mb = UNKNOWN,
                                       .ok = true};
    const struct sample_record samples[] = {
        {.vm = "b", .time = 100, .demand = {1, 2}},
        {.vm = "a", .time = 100, .demand = {3, 4.5}},
        {.vm = "a", .time = 50, .demand = {5, 6}},
    };

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(PUT(MIGRATION, .migration = &m), 0);
    assert_int_equal(put_samples(s, samples, 3, &err), 0);
    assert_int_equal(put_samples(s, samples, 3, &err), 0); /* again: replaced, not refused */
    assert_int_equal(put_samples(s, samples, 0, &err), 0);
    assert_int_equal(PUT(NOTE, .note = &(struct note){"frozen", "1000"}), 0);
    assert_int_equal(PUT(NOTE, .note = &(struct note){"frozen", "2000"}), 0);
    assert_int_equal(PUT(NOTE, .note = &(struct note){"gone", "x"}), 0);
    assert_int_equal(
        store_sqlite.forget(s, &(struct record){RECORD_NOTE, .note = &(struct note){.key = "gone"}}, &err),
        0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_migrations, 1);
    assert_string_equal(all.migrations[0].to, "b");
    assert_true(isnan(all.migrations[0].mem_mb) && all.migrations[0].ok && all.migrations[0].ended == 20);
    assert_int_equal(all.n_samples, 3);
    assert_string_equal(all.samples[0].vm, "a");
    assert_true(all.samples[0].time == 50 && all.samples[1].time == 100);
    assert_true(all.samples[1].demand[RES_MEM] == 4.5);
    assert_string_equal(all.samples[2].vm, "b");
    struct records found;

    assert_int_equal(store_sqlite.list(s, QUERY_SAMPLES, 0, &a, &found, &err), 0);
    assert_true(found.n == 3 && found.samples[0].time == 50 && found.samples[1].time == 100 &&
                found.samples[2].time == 100);
    assert_string_equal(found.samples[1].vm, "a");
    assert_string_equal(found.samples[2].vm, "b");
    assert_true(all.n_notes == 1 && strcmp(all.notes[0].value, "2000") == 0);
    assert_int_equal(
        store_sqlite.prune(s, &(struct retention){.samples_before = 60, .ended_before = 21, .passes_kept = 9},
                           &err),
        0);
    all = must_load(s, &a);
    assert_int_equal(all.n_samples, 2);
    assert_int_equal(all.n_migrations, 0);
    store_close(s);
    remove_all(p.dir);
}

static void test_what_was_learned(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    const struct rate_record rates[] = {
        {.from = "b", .to = "a", .mb_s = 90.5, .learned = 30},
        {.from = "a", .to = "b", .mb_s = 120, .learned = 20},
        {.from = "a", .to = "", .mb_s = 100, .learned = 20},
        {.from = "a", .to = "", .mb_s = 110, .learned = 25},
    };
    const struct dirty_record dirties[] = {{.vm = "w", .mb_s = 1, .learned = 20},
                                           {.vm = "v", .mb_s = 0, .learned = 25}};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (int i = 0; i < 4; i++) /* the last one replaces the third */
        assert_int_equal(PUT(RATE, .rate = &rates[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(PUT(DIRTY, .dirty = &dirties[i]), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_rates, 3);
    assert_true(all.rates[0].mb_s == 110 && all.rates[0].learned == 25 && !*all.rates[0].to);
    assert_string_equal(all.rates[2].from, "b");
    assert_true(all.n_dirties == 2 && all.dirties[0].mb_s == 0 && all.dirties[1].learned == 20);
    assert_int_equal(store_sqlite.prune(s, &(struct retention){.learned_before = 25, .passes_kept = 9}, &err),
                     0);
    all = must_load(s, &a);
    assert_true(all.n_rates == 2 && all.n_dirties == 1);
    assert_string_equal(all.dirties[0].vm, "v");
    store_close(s);
    remove_all(p.dir);
}

static void check_proofs(const struct wake_proof *p)
{
    assert_true(p[0].settings == INT64_MAX && p[0].failed == 3 && p[0].failed_code == EACCES);
    assert_string_equal(p[0].why, "refused");
    assert_true(p[0].proven == 0 && p[3].settings == 1 && p[3].proven == 4 && !p[3].why);
}

/* What is known of hosts; one that was put to standby outlives whatever nobody has seen for long. */
static void test_hosts(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    const struct host_record records[] = {
        {.host = "c",
         .on_since = 5,
         .woke = 4,
         .woke_by = WOKE_BY_OLDER | WAKE_WOL,
         .boot_s = UNKNOWN,
         .seen = 30,
         .our_maintenance = 6,
         .maintenance = 16,
         .proofs = {{.settings = INT64_MAX, .failed = 3, .failed_code = EACCES, .why = "refused"},
                    [3] = {.settings = 1, .proven = 4}}},
        {.host = "b",
         .standby_since = 7,
         .put_down = 8,
         .wake_failed = 9,
         .boot_s = 181.5,
         .seen = 10,
         .facts = "{\"id\": \"b\"}"},
        {.host = "a", .on_since = 1, .boot_s = 60, .seen = 10},
        {.host = "a",
         .on_since = 2,
         .boot_s = 70,
         .seen = 11,
         .woken = {.at = 3, .reason = REASON_EXPECTED_DEMAND}},
    };

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (size_t i = 0; i < ELEMENTS(records); i++) /* the last one replaces the third */
        assert_int_equal(PUT(HOST, .host = &records[i]), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_hosts, 3);
    assert_true(all.hosts[0].on_since == 2 && all.hosts[0].boot_s == 70 && all.hosts[0].seen == 11);
    assert_true(all.hosts[0].woken.at == 3 && all.hosts[0].woken.reason == REASON_EXPECTED_DEMAND &&
                all.hosts[1].woken.at == 0 && all.hosts[1].standby_since == 7 && all.hosts[1].put_down == 8 &&
                all.hosts[1].wake_failed == 9);
    assert_string_equal(all.hosts[1].facts, "{\"id\": \"b\"}");
    assert_null(all.hosts[0].facts);
    assert_true(all.hosts[2].woke == 4 && all.hosts[2].woke_by == (WOKE_BY_OLDER | WAKE_WOL) &&
                isnan(all.hosts[2].boot_s) && all.hosts[2].our_maintenance == 6 &&
                all.hosts[1].our_maintenance == 0 && all.hosts[2].maintenance == 16);
    check_proofs(all.hosts[2].proofs);
    assert_int_equal(store_sqlite.prune(s, &(struct retention){.hosts_before = 20, .passes_kept = 9}, &err),
                     0);
    all = must_load(s, &a);
    assert_int_equal(all.n_hosts, 2);
    assert_string_equal(all.hosts[0].host, "b");
    assert_int_equal(
        store_sqlite.prune(s, &(struct retention){.hosts_before = INT64_MAX, .passes_kept = 9}, &err), 0);
    assert_int_equal(must_load(s, &a).n_hosts, 0);
    store_close(s);
    remove_all(p.dir);
}

static int64_t count_rows(struct store *s, const char *table)
{
    char sql[96];
    int64_t n = -1;

    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(store_read_number(s, sql, &n, NULL), 0);
    return n;
}

/* What is old goes by a tenth at a time, in whatever table: the clock that calls it old may be wrong. */
static void test_a_tenth_at_a_time(void **state)
{
#define MANY "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
    static const struct {
        const char *table, *fill;
    } tables[] = {
        {"migrations", MANY "INSERT INTO migrations (action, vm, from_host, to_host, started, ended, ok)"
                            " SELECT i, 'v', 'a', 'b', i, i, 1 FROM n"},
        {"rates", MANY "INSERT INTO rates SELECT 'a', i, 1, 7 FROM n"},
        {"dirty_rates", MANY "INSERT INTO dirty_rates SELECT i, 1, 7 FROM n"},
        {"hosts", MANY "INSERT INTO hosts (host, on_since, standby_since, put_down, woke, wake_failed, seen)"
                       " SELECT i, 0, 0, 0, 0, 0, 7 FROM n"},
        {"patterns", MANY "INSERT INTO patterns (time, days, of_days, woken) SELECT i, 1, 1, 1 FROM n"},
        {"energy",
         MANY "INSERT INTO energy (time, host, length_s, until, span_s, host_s, unknown_s, measured_s,"
              " asleep_s, used_wh, all_on_wh, wanted_mhz_s, wanted_mb_s, unmet_mhz_s, unmet_mb_s)"
              " SELECT i * 86400, 'a', 86400, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n"},
        {"events", MANY "INSERT INTO events (time, kind, type, severity, data)"
                        " SELECT i, 'action', 'action', 'info', '{}' FROM n"},
        {"mean_blocks", MANY "INSERT INTO mean_blocks SELECT (i * 14400) << 24, 1, x'00' FROM n"},
    };
    const instant_s late = 4000000000;
    const struct retention keep = {late, late, late, late, UINT32_MAX, late, late, late, late};
    struct place p;
    struct err err = {0};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (size_t i = 0; i < ELEMENTS(tables); i++)
        tamper(&p, tables[i].fill);
    for (int round = 0; round < 220; round++) {
        int64_t before[ELEMENTS(tables)], after;

        for (size_t i = 0; i < ELEMENTS(tables); i++)
            before[i] = count_rows(s, tables[i].table);
        assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
        assert_int_equal(store_prune_events(s, late, 1000, 0, &err), 0);
        for (size_t i = 0; i < ELEMENTS(tables); i++) {
            after = count_rows(s, tables[i].table);
            if (after < before[i] - before[i] / 10 - 1 || (after == before[i] && after > 1))
                fail_msg("%s: %lld of %lld are left", tables[i].table, (long long)after,
                         (long long)before[i]);
        }
    }
    for (size_t i = 0; i < ELEMENTS(tables); i++)
        assert_in_range(count_rows(s, tables[i].table), 0, 1);
    store_close(s);
    remove_all(p.dir);
}

static void test_settings(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    const struct setting_record records[] = {
        {.host = "b", .pool = "x", .alloc = {{100, NO_LIMIT, 5, false}, {1, 2, 3, false}}},
        {.host = "a", .pool = "y", .alloc = {{0, 700.5, 4000, false}, {0, NO_LIMIT, 1, false}}},
        {.host = "a", .pool = "x", .alloc = {{9, 9, 9, false}, {9, 9, 9, false}}},
        {.host = "a", .pool = "x", .alloc = {{8, 8, 8, false}, {8, 8, 8, false}}},
    };

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (int i = 0; i < 4; i++) /* the last one replaces the third */
        assert_int_equal(PUT(SETTING, .setting = &records[i]), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_settings, 3);
    assert_true(all.settings[0].alloc[RES_MEM].shares == 8);
    assert_string_equal(all.settings[1].pool, "y");
    assert_true(all.settings[1].alloc[RES_CPU].limit == 700.5 &&
                all.settings[1].alloc[RES_MEM].limit == NO_LIMIT);
    assert_true(all.settings[2].alloc[RES_CPU].limit == NO_LIMIT &&
                all.settings[2].alloc[RES_CPU].shares == 5);
    assert_int_equal(
        store_sqlite.forget(
            s,
            &(struct record){RECORD_SETTING, .setting = &(struct setting_record){.host = "a", .pool = "x"}},
            &err),
        0);
    assert_int_equal(
        store_sqlite.forget(
            s,
            &(struct record){RECORD_SETTING, .setting = &(struct setting_record){.host = "b", .pool = "y"}},
            &err),
        0); /* there is none */
    all = must_load(s, &a);
    assert_int_equal(all.n_settings, 2);
    assert_string_equal(all.settings[0].pool, "y");
    store_close(s);
    remove_all(p.dir);
}

static void test_transactions(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    const struct pass_record pass = {.id = 1, .time = 300, .trigger = "interval", .snapshot = "{}"};
    struct err err = {0};
    struct action_record twin = bare;
    const struct sample_record sample = {.vm = "a", .time = 1, .demand = {1, 1}};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(PUT(ACTION, .action = &full), 0);
    assert_int_equal(PUT(SAMPLE, .sample = &sample), 0);
    store_sqlite.rollback(s);
    struct stored all = must_load(s, &a);

    assert_true(all.n_actions == 0 && all.n_samples == 0 && all.last_action == 0);
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(PUT(ACTION, .action = &bare), 0);
    assert_int_equal(PUT(SAMPLE, .sample = &sample), 0);
    assert_int_equal(PUT(PASS, .pass = &pass), 0);
    twin.id = 9;
    assert_int_equal(PUT(ACTION, .action = &twin), -EINVAL); /* takes only itself back */
    assert_int_equal(store_sqlite.commit(s, &err), 0);
    all = must_load(s, &a);
    assert_true(all.n_actions == 1 && all.n_samples == 1 && all.last_pass == 1);
    assert_int_equal(store_sqlite.begin(s, &err), 0); /* and closed without a commit */
    assert_int_equal(PUT(ACTION, .action = &full), 0);
    store_close(s);
    s = must_open(&p);
    assert_int_equal(must_load(s, &a).n_actions, 1);
    store_close(s);
    remove_all(p.dir);
}

/* ---- size ---- */

static double seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* An hour of a large cluster: prints what a pass costs. */
static void test_many_samples(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    size_t n = getenv("BALLAST_TEST_SLOW") ? 1000 : 20000;
    struct sample_record *samples = arena_array(&a, struct sample_record, n);
    double put_s = 0, prune_s = 0;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (size_t i = 0; i < n; i++)
        samples[i] =
            (struct sample_record){.vm = arena_printf(&a, "vm-%06zu", i), .demand = {(double)i, 2048}};
    for (instant_s pass = 0; pass < 15; pass++) {
        for (size_t i = 0; i < n; i++)
            samples[i].time = 1000000 + pass * 300;
        double t0 = seconds();

        assert_int_equal(put_samples(s, samples, n, &err), 0);
        double t1 = seconds();
        const struct retention keep = {.samples_before = 1000000 + pass * 300 - 3600, .passes_kept = 10};

        assert_int_equal(store_sqlite.prune(s, &keep, &err), 0);
        put_s += t1 - t0;
        prune_s += seconds() - t1;
    }
    double t0 = seconds();
    struct stored all = must_load(s, &a);

    print_message("%zu VMs: put %.3f s, prune %.3f s a pass; load of the hour %.2f s\n", n, put_s / 15,
                  prune_s / 15, seconds() - t0);
    assert_int_equal(all.n_samples, 13 * n);
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_numbers_are_given_once),
        cmocka_unit_test(test_the_rest),
        cmocka_unit_test(test_what_was_learned),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_a_tenth_at_a_time),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_many_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
