/* Looks, and the means that they become: held against means that are computed from the looks themselves. */
#include "store_place.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "store/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define START 1700000000 /* no multiple of a minute */
#define OBJECTS_MAX 700
#define LOOKS_MAX 4000

/* ---- a cluster, and all its looks ------------------------------------------------------------- */

static struct {
    struct look looks[LOOKS_MAX];
    struct look_object *objects[LOOKS_MAX];
    size_t n;
    struct arena a;
    struct rng rng;
} W;

static double any(double most)
{
    return rng_unit(&W.rng) * most;
}

static struct look_object *make_object(struct look_object *o, enum look_kind kind, const char *id)
{
    o->kind = kind;
    o->id = id;
    for (int f = 0; f < look_figure_count; f++)
        o->of[f] =
            look_has(kind, (enum look_figure)f) && look_figures[f].of == (enum look_figure)f && any(1) < 0.95
                ? any(20000 * look_figures[f].step)
                : UNKNOWN;
    return o;
}

/* VMs come one after another; one in ten is not there. */
static struct look *make_look(instant_s time, instant_s covers_s, size_t n_vms)
{
    struct look *l = &W.looks[W.n];
    size_t n = 0;

    W.objects[W.n] = arena_array(&W.a, struct look_object, n_vms + 2);
    make_object(&W.objects[W.n][n++], LOOK_CLUSTER, "");
    make_object(&W.objects[W.n][n++], LOOK_HOST, "h1");
    for (size_t i = 0; i < n_vms; i++)
        if (any(1) < 0.9)
            make_object(&W.objects[W.n][n++], LOOK_VM, arena_printf(&W.a, "vm-%zu", i));
    *l = (struct look){.time = time, .covers_s = covers_s, .objects = W.objects[W.n], .n = n};
    W.n++;
    return l;
}

static void put_look(struct store *s, const struct look *l)
{
    struct err err = {0};

    assert_int_equal(store_sqlite.begin(s, &err), 0);
    if (store_sqlite.put_look(s, l, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(store_sqlite.commit(s, &err), 0);
}

static void forget_all(void)
{
    arena_release(&W.a);
    W.n = 0;
    W.rng = (struct rng){7};
}

/* ---- what is expected ------------------------------------------------------------------------- */

static const struct look_object *find(const struct look *l, enum look_kind kind, const char *id)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->objects[i].kind == kind && strcmp(l->objects[i].id, id) == 0)
            return &l->objects[i];
    }
    return NULL;
}

/* Second by second. */
static double expected_of(enum look_kind kind, const char *id, enum look_figure f, instant_s from,
                          instant_s until, int64_t *ret_seconds)
{
    double sum = 0, best = UNKNOWN;
    int64_t seconds = 0;

    for (size_t i = 0; i < W.n; i++) {
        const struct look *l = &W.looks[i];
        const instant_s begin = l->time - l->covers_s;

        if (begin >= until || l->time <= from)
            continue;
        const struct look_object *o = find(l, kind, id);
        const double v = o ? o->of[look_figures[f].of] : UNKNOWN;

        for (instant_s t = begin; t < l->time; t++) {
            if (isnan(v) || t < from || t >= until)
                continue;
            seconds++;
            sum += v;
            best = isnan(best) ? v : look_figures[f].sum == LOOK_HIGHEST ? fmax(best, v) : fmin(best, v);
        }
    }
    *ret_seconds = seconds;
    return seconds == 0 ? UNKNOWN : look_figures[f].sum == LOOK_MEAN ? sum / (double)seconds : best;
}

/* Of longer steps each quarter of an hour that has become a mean counts as a whole. */
static double expected(enum look_kind kind, const char *id, enum look_figure f, instant_s from,
                       instant_s step, instant_s thinned)
{
    double sum = 0, weight = 0, best = UNKNOWN;
    int64_t seconds;

    if (step < LOOK_MEANS_S)
        return expected_of(kind, id, f, from, from + step, &seconds);
    for (instant_s t = from; t < from + step; t += LOOK_MEANS_S) {
        const double v = expected_of(kind, id, f, t, t + LOOK_MEANS_S, &seconds);
        const double w = t < thinned ? LOOK_MEANS_S : (double)seconds;

        if (isnan(v))
            continue;
        sum += v * w;
        weight += w;
        best = isnan(best) ? v : look_figures[f].sum == LOOK_HIGHEST ? fmax(best, v) : fmin(best, v);
    }
    return weight == 0 ? UNKNOWN : look_figures[f].sum == LOOK_MEAN ? sum / weight : best;
}

static int64_t number(const struct place *p, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;

    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);

    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return n;
}

/* Two roundings to codes: of looks, and of means. */
static void assert_close(double is, double wanted, enum look_figure f, const char *id, instant_s t)
{
    const double allowed = look_figures[f].step * 1.01 + 0.0011 * fabs(wanted);

    if (isnan(is) != isnan(wanted) || fabs(is - wanted) > allowed)
        fail_msg("%s of %s at %" PRId64 ": %g, expected %g", look_figures[f].word, id, t, is, wanted);
}

static void assert_series(const struct place *p, struct store *s, enum look_kind kind, const char *id,
                          instant_s since, instant_s until, instant_s step)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct series_query q = {.kind = kind, .id = id, .since = since, .until = until, .step_s = step};
    const instant_s thinned = number(p, "SELECT thinned_until FROM series");
    struct series is;
    struct err err = {0};

    if (store_series(s, &q, &a, &is, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(is.n > 0 && is.step_s >= step && is.n <= SERIES_POINTS_MAX);
    for (size_t i = 0; i < is.n; i++) {
        const instant_s from = is.since + (instant_s)i * is.step_s;

        assert_int_equal(from % is.step_s, 0);
        for (int f = 0; f < look_figure_count; f++)
            if (look_has(kind, (enum look_figure)f))
                assert_close(is.of[i][f], expected(kind, id, (enum look_figure)f, from, is.step_s, thinned),
                             (enum look_figure)f, id, from);
    }
}

/* ---- looks ------------------------------------------------------------------------------------ */

/* Nine hours of looks with uneven distances and a gap: single looks, and the means of them. In turn with one
 * process and with one that ends after each look. */
static void hours(bool restarts)
{
    struct place p;
    instant_s t = START;

    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    for (int i = 0; i < 520; i++) {
        instant_s covers = 55 + (instant_s)any(12);

        t += covers;
        if (i == 200)
            t += 3000, covers = 60;
        put_look(s, make_look(t, covers, 6 + (size_t)i / 60));
        if (restarts && i % 7 == 0) {
            store_close(s);
            s = must_open(&p);
        }
    }
    for (int step = 60; step <= 7200; step += step < 900 ? 120 : 900) {
        assert_series(&p, s, LOOK_CLUSTER, "", START, t, step);
        assert_series(&p, s, LOOK_HOST, "h1", START + 5000, t - 4321, step);
        assert_series(&p, s, LOOK_VM, "vm-3", START - 100000, t + 5000, step);
        assert_series(&p, s, LOOK_VM, "vm-9", START, t, step);
    }
    store_close(s);
    remove_all(p.dir);
}

static void test_hours(void **state)
{
    (void)state;
    hours(false);
}

static void test_hours_with_restarts(void **state)
{
    (void)state;
    hours(true);
}

/* What looks were put comes back step by step, without those that are not there. */
struct walk {
    size_t n, means;
    instant_s last;
};

static int walk_on(void *ctx, const struct look *look)
{
    struct walk *w = ctx;
    int64_t seconds;

    assert_true(look->time > w->last);
    w->last = look->time;
    w->n++;
    w->means += look->covers_s == LOOK_MEANS_S;
    for (size_t i = 0; i < look->n; i++) {
        const struct look_object *o = &look->objects[i];

        assert_int_equal(o->kind, LOOK_VM);
        assert_close(
            o->of[LOOK_CPU_DEMAND],
            expected_of(LOOK_VM, o->id, LOOK_CPU_DEMAND, look->time - look->covers_s, look->time, &seconds),
            LOOK_CPU_DEMAND, o->id, look->time);
    }
    return w->n == 40 ? 42 : 0;
}

static void test_all_vms(void **state)
{
    struct place p;
    struct store *s = NULL;
    struct walk w = {0};
    struct err err = {0};

    (void)state;
    forget_all();
    place_make(&p);
    struct store *writer = must_open(&p);

    for (int i = 1; i <= 600; i++)
        put_look(writer, make_look(START + i * 60, 60, 300));
    assert_int_equal(store_open_to_read(p.state, &s, &err), 0); /* beside the writer */
    for (int i = 601; i <= 2600; i++) /* what is read is as it was, while the writer deletes old looks */
        put_look(writer, make_look(START + i * 60, 60, 1));
    int ended = store_each_look(s, LOOK_VM, SERIES_MEANS, START + 3600, START + 36000, walk_on, &w, &err);

    if (ended != 42)
        fail_msg("%d after %zu steps, %zu of them means: %s", ended, w.n, w.means, err.text);
    assert_true(w.means == 36 && w.n == 40); /* 42 ended it */
    w = (struct walk){0};
    assert_int_equal(
        store_each_look(s, LOOK_VM, SERIES_MEANS, START + 35260, START + 99999, walk_on, &w, &err), 0);
    assert_true(w.n == 13 && w.means == 0);
    store_close(s);
    store_close(writer);
    remove_all(p.dir);
}

/* A look is there or it is not, and what was thinned before the kill is what would have been. */
static void test_kills(void **state)
{
    struct place p;
    struct err err = {0};

    (void)state;
    forget_all();
    place_make(&p);
    for (int i = 1; i <= 420; i++)
        (void)make_look(START + i * 60, 60, 600);
    for (int round = 0; round < 14; round++) {
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) { /* ends in the middle of a transaction, without rollback */
            struct store *s = NULL;

            if (store_open(p.state, PASSES_MB, &s, &err) < 0)
                _exit(1);
            for (int i = round * 30; i < round * 30 + 30; i++)
                if (store_sqlite.begin(s, &err) < 0 || store_sqlite.put_look(s, &W.looks[i], &err) < 0 ||
                    store_sqlite.commit(s, &err) < 0)
                    _exit(2);
            if (round < 13 && (store_sqlite.begin(s, &err) < 0 ||
                               store_sqlite.put_look(s, &W.looks[round * 30 + 30], &err) < 0))
                _exit(3);
            _exit(0);
        }
        int status;

        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    struct store *s = must_open(&p);

    assert_int_equal(number(&p, "SELECT count(*) FROM looks"), 420);
    assert_true(number(&p, "SELECT thinned_until FROM series") > START);
    for (int i = 0; i < 600; i += 77)
        assert_series(&p, s, LOOK_VM, i == 0 ? "vm-0" : arena_printf(&W.a, "vm-%d", i), START,
                      START + 420 * 60, 900);
    store_close(s);
    remove_all(p.dir);
}

/* Set back by an hour, then two days: what lies ahead is gone, what comes is kept and thinned. Set forward: a
 * gap. */
static void test_clock(void **state)
{
    static const instant_s set[] = {-1800, -2 * 86400, 40 * 86400};
    struct place p;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(set); i++) {
        instant_s t = START;

        forget_all();
        place_make(&p);
        struct store *s = must_open(&p);

        for (int k = 0; k < 500; k++)
            put_look(s, make_look(t += 60, 60, 5));
        const instant_s back = t += set[i];

        while (set[i] < 0 && W.n > 0 && W.looks[W.n - 1].time > back) /* what is expected from now on */
            W.n--;
        const bool far = set[i] < -3600;

        for (int k = 0; k < 500; k++) {
            put_look(s, make_look(t += 60, 60, 5));
            W.n -= far && k < 60;
            assert_true(!far || k >= 60 || number(&p, "SELECT count(*) FROM looks") == 500);
        }
        assert_int_equal(number(&p, "SELECT max(time) FROM looks"), t);
        assert_series(&p, s, LOOK_VM, "vm-1", far ? back + 4 * 3600 : START < back ? START : back, t, 900);
        assert_series(&p, s, LOOK_VM, "vm-1", back + 4 * 3600, t, 60);
        store_close(s);
        remove_all(p.dir);
    }
}

/* A service that began again ten seconds after its last look: no second counts twice. */
static void test_overlap(void **state)
{
    static const struct {
        instant_s time;
        double mhz;
    } seen[] = {{60, 100}, {70, 200}, {130, 400}};
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct series_query q = {
        .kind = LOOK_VM, .id = "vm", .since = 1700006400, .until = 1700006400 + 180, .step_s = 60};
    struct place p;
    struct series is;
    struct err err = {0};
    struct look_object o;

    (void)state;
    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    make_object(&o, LOOK_VM, "vm");
    for (size_t i = 0; i < ELEMENTS(seen); i++) {
        o.of[LOOK_CPU_DEMAND] = seen[i].mhz;
        put_look(s, &(struct look){.time = q.since + seen[i].time, .covers_s = 60, .objects = &o, .n = 1});
    }
    assert_int_equal(store_series(s, &q, &a, &is, &err), 0);
    assert_int_equal(is.n, 3);
    assert_within(is.of[0][LOOK_CPU_DEMAND], 100, 0.3);
    assert_within(is.of[1][LOOK_CPU_DEMAND], (10 * 200 + 50 * 400) / 60.0, 0.3);
    assert_within(is.of[2][LOOK_CPU_DEMAND], 400, 0.3);
    store_close(s);
    remove_all(p.dir);
}

/* For a few minutes the clock is ahead by years: what was seen before and after is there, as quarters of an
 * hour; of the one in which the clock was set right, what came after. */
static void test_clock_ahead(void **state)
{
    struct place p;
    instant_s t = START;

    (void)state;
    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    for (int k = 0; k < 500; k++)
        put_look(s, make_look(t += 60, 60, 5));
    const instant_s ahead = t;
    const size_t known = W.n;

    for (int k = 1; k <= 10; k++)
        put_look(s, make_look(t + 400 * 86400 + k * 60, 60, 5));
    W.n = known;
    t += 600;
    for (int k = 0; k < 500; k++)
        put_look(s, make_look(t += 60, 60, 5));
    assert_int_equal(number(&p, "SELECT max(time) FROM looks"), t);
    assert_series(&p, s, LOOK_VM, "vm-1", START, ahead - ahead % LOOK_MEANS_S, 900);
    assert_series(&p, s, LOOK_VM, "vm-1", ahead + 600 + LOOK_MEANS_S, t, 900);
    assert_series(&p, s, LOOK_VM, "vm-1", t - t % SERIES_SPAN_S, t, 60);
    store_close(s);
    remove_all(p.dir);
}

/* Damage is an error of what reads the row, and thinned past. */
static void test_damage(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct series_query q = {.kind = LOOK_VM, .id = "vm-1", .since = START, .until = START + 500 * 60};
    struct place p;
    struct series is;
    struct err err = {0};

    (void)state;
    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    for (int i = 1; i <= 100; i++)
        put_look(s, make_look(START + i * 60, 60, 5));
    store_close(s);
    tamper(&p,
           "UPDATE look_blocks SET data = x'00112233' WHERE id % 7 = 0; UPDATE look_blocks SET size = 1 << 40"
           " WHERE id % 7 = 1; UPDATE look_blocks SET data = zeroblob(0) WHERE id % 7 = 2");
    s = must_open(&p);
    assert_int_equal(store_series(s, &q, &a, &is, &err), -EIO);
    assert_non_null(strstr(err.text, "damaged"));
    for (int i = 101; i <= 700; i++)
        put_look(s, make_look(START + i * 60, 60, 5));
    assert_true(number(&p, "SELECT thinned_until FROM series") > START + 100 * 60);
    assert_series(&p, s, LOOK_VM, "vm-1", START + 300 * 60, START + 600 * 60, 900);
    store_close(s);
    tamper(&p, "UPDATE series_objects SET kind = 'ship' WHERE id = 'vm-2'");
    s = must_open(&p);
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(store_sqlite.put_look(s, make_look(START + 701 * 60, 60, 5), &err), -EIO);
    store_sqlite.rollback(s);
    store_close(s);
    remove_all(p.dir);
}

/* An object that comes back after its data were pruned is another one; its number was given on meanwhile. */
static void test_numbers(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct series_query q = {.kind = LOOK_VM, .id = "gone", .since = START, .until = START + 90000};
    struct place p;
    struct series is;
    struct err err = {0};
    struct look_object o[2];

    (void)state;
    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    make_object(&o[0], LOOK_VM, "gone");
    put_look(s, &(struct look){.time = START, .covers_s = 60, .objects = o, .n = 1});
    make_object(&o[0], LOOK_VM, "kept");
    put_look(s, &(struct look){.time = START + 60, .covers_s = 60, .objects = o, .n = 1});
    assert_int_equal(store_series(s, &q, &a, &is, &err), 0);
    assert_int_equal(is.n, 1);
    assert_int_equal(
        store_sqlite.prune(s, &(struct retention){.looks_before = START + 200000, .passes_kept = 1}, &err),
        0);
    assert_int_equal(store_series(s, &q, &a, &is, &err), -ENOENT);
    make_object(&o[1], LOOK_VM, "new");
    put_look(s, &(struct look){.time = START + 200000, .covers_s = 60, .objects = o, .n = 2});
    assert_int_equal(number(&p, "SELECT number FROM series_objects WHERE id = 'new'"), 0);
    assert_int_equal(
        store_sqlite.prune(s, &(struct retention){.looks_before = INT64_MAX, .passes_kept = 1}, &err), 0);
    assert_int_equal(number(&p, "SELECT count(*) FROM look_blocks"), 0);
    put_look(s, &(struct look){.time = START + 200060, .covers_s = 60, .objects = o, .n = 2});
    store_close(s);
    remove_all(p.dir);
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A large cluster whose demand varies by a tenth around levels, and which gets nearly all of it: prints what
 * a look costs, how large the rows are, and how long a question takes. */
static void test_many(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const char *asked = getenv("BALLAST_TEST_SERIES_VMS");
    const size_t n = asked ? (size_t)strtoul(asked, NULL, 10) : 2000;
    struct look_object *o = arena_array(&a, struct look_object, n);
    struct rng rng = {9};
    struct place p;
    double slowest = 0, total = 0;
    const int looks = 300;

    (void)state;
    forget_all();
    place_make(&p);
    struct store *s = must_open(&p);

    for (int t = 1; t <= looks; t++) {
        for (size_t i = 0; i < n; i++) {
            const double level = 50.0 + (double)(i * 7919 % 4000), mem = 512.0 + (double)(i * 104729 % 16000);
            double *of = o[i].of;

            if (t == 1)
                make_object(&o[i], LOOK_VM, arena_printf(&a, "vm-%zu", i));
            of[LOOK_CPU_DEMAND] = of[LOOK_CPU_ENTITLEMENT] = level * (0.9 + 0.2 * rng_unit(&rng));
            of[LOOK_CPU_DELIVERED] = of[LOOK_CPU_DEMAND] * (1 - 0.02 * rng_unit(&rng));
            of[LOOK_MEM_DEMAND] = of[LOOK_MEM_ENTITLEMENT] = mem * (0.99 + 0.02 * rng_unit(&rng));
            of[LOOK_MEM_DELIVERED] = mem * 1.2;
            of[LOOK_CPU_SCORE] = 100 * of[LOOK_CPU_DELIVERED] / of[LOOK_CPU_DEMAND];
            of[LOOK_MEM_SCORE] = 100;
        }
        const double t0 = now_s();

        put_look(s, &(struct look){.time = 1700006400 + t * 60, .covers_s = 60, .objects = o, .n = n});
        total += now_s() - t0;
        slowest = fmax(slowest, now_s() - t0);
    }
    const struct series_query q = {
        .kind = LOOK_VM, .id = o[n / 2].id, .since = 1700006400, .until = 1700006400 + looks * 60};
    struct series is;
    struct err err = {0};
    const double t0 = now_s();

    assert_int_equal(store_series(s, &q, &a, &is, &err), 0);
    const double read_s = now_s() - t0;
    const double look_bytes =
        (double)number(&p, "SELECT sum(length(data)) FROM look_blocks") / looks / (double)n;
    const double mean_bytes = (double)number(&p, "SELECT sum(length(data)) FROM mean_blocks") /
                              (double)number(&p, "SELECT 16 * count(DISTINCT id >> 24) FROM mean_blocks") /
                              (double)n;

    print_message(
        "%zu VMs: put %.3f s a look, the slowest %.3f s; %.1f bytes a VM and look, %.1f a quarter of an hour:"
        " %.1f KB a VM with a day and a month; a VM's 300 looks in %.4f s\n",
        n, total / looks, slowest, look_bytes, mean_bytes, (look_bytes * 1440 + mean_bytes * 96 * 30) / 1000,
        read_s);
    store_close(s);
    remove_all(p.dir);
}

static int unit_last(void **state)
{
    (void)state;
    forget_all();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hours),       cmocka_unit_test(test_hours_with_restarts),
        cmocka_unit_test(test_all_vms),     cmocka_unit_test(test_kills),
        cmocka_unit_test(test_overlap),     cmocka_unit_test(test_clock),
        cmocka_unit_test(test_clock_ahead), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, unit_last);
}
