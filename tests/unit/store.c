/* The store: what was put is there again, whatever happens in between. */
#include "unit.h"

#include "store/sqlite.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES_MB 64

/* ---- a folder of the test's own ---- */

struct place {
    char dir[64];
    char state[96]; /* the state directory, not there at first */
    char db[128];
};

static void place_make(struct place *p)
{
    (void)snprintf(p->dir, sizeof p->dir, "/tmp/ballast-store-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->state, sizeof p->state, "%s/state", p->dir);
    (void)snprintf(p->db, sizeof p->db, "%s/ballast.db", p->state);
}

static void remove_all(const char *dir)
{
    DIR *d = opendir(dir);
    char path[512];

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (unlink(path) < 0)
            remove_all(path);
    }
    if (d)
        (void)closedir(d);
    (void)rmdir(dir);
}

static struct store *must_open(const struct place *p)
{
    struct store *s = NULL;
    struct err err = {0};
    int r = store_open(p->state, PASSES_MB, &s, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    return s;
}

static struct stored must_load(struct store *s, struct arena *a)
{
    struct stored ret;
    struct err err = {0};
    int r = store_sqlite.load(s, 0, 0, a, &ret, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    return ret;
}

/* Runs SQL on the database behind the store's back. */
static void tamper(const struct place *p, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

/* ---- records ---- */

static const struct action_record full = {
    .id = 7,
    .uid = "uid-7",
    .pass = 3,
    .state = ACTION_RUNNING,
    .kind = ACTION_MIGRATE,
    .priority = 2,
    .vm = "web-01",
    .from = "esx1",
    .to = "esx2",
    .reason = REASON_BALANCE_CPU,
    .rule = "r1",
    .text = "evens out \"CPU\" load; 'quoted' \xc3\xa9",
    .depends_on = (const uint64_t[]){3, 5, 18446744073u},
    .n_depends_on = 3,
    .group = 2,
    .imbalance_after = 0.125,
    .cost = {1.5, 2.5},
    .benefit = {100.25, UNKNOWN},
    .duration_s = 12.5,
    .approved_by = "engine",
    .task = "task-12",
    .why = "waits",
    .attempts = 2,
    .cancel_asked = true,
    .created = 1000,
    .seen = 2000,
    .approved = 1500,
    .started = 1600,
    .ended = 0,
};

static const struct action_record bare = {
    .id = 8,
    .uid = "uid-8",
    .state = ACTION_RECOMMENDED,
    .kind = ACTION_ENTER_MAINTENANCE,
    .priority = 1,
    .host = "esx1",
    .reason = REASON_MAINTENANCE,
    .imbalance_after = UNKNOWN,
    .created = 1000,
    .seen = 1000,
};

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
}

/* ---- what is put is there again ---- */

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
    struct action_record *list;
    size_t n;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_sqlite.put_action(s, &full, &err), 0);
    assert_int_equal(store_sqlite.put_action(s, &bare, &err), 0);
    store_close(s);
    s = must_open(&p);
    struct stored all = must_load(s, &a);

    assert_int_equal(all.n_actions, 2);
    assert_int_equal(all.last_action, 8);
    assert_same_action(&all.actions[0], &full);
    assert_same_action(&all.actions[1], &bare);
    ended.state = ACTION_DONE;
    ended.ended = 3000;
    assert_int_equal(store_sqlite.put_action(s, &ended, &err), 0);
    all = must_load(s, &a);
    assert_int_equal(all.n_actions, 2);
    assert_same_action(&all.actions[0], &ended);
    assert_int_equal(store_sqlite.load(s, 3001, 0, &a, &all, &err), 0);
    assert_int_equal(all.n_actions, 1); /* ended before: not needed any more */
    assert_int_equal(store_sqlite.list_ended(s, 10, &a, &list, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_same_action(&list[0], &ended);
    twin.id = 9; /* the uid of another one: refused, and the other one stays */
    assert_int_equal(store_sqlite.put_action(s, &twin, &err), -EINVAL);
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
    assert_int_equal(store_sqlite.put_action(s, &ended, &err), 0);
    assert_int_equal(
        store_sqlite.put_pass(
            s, &(struct pass_record){.id = 12, .trigger = "run", .snapshot = "{}", .plan = "{}"}, &err),
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

    assert_int_equal(store_sqlite.put_migration(s, &m, &err), 0);
    assert_int_equal(store_sqlite.put_samples(s, samples, 3, &err), 0);
    assert_int_equal(store_sqlite.put_samples(s, samples, 3, &err), 0); /* again: replaced, not refused */
    assert_int_equal(store_sqlite.put_samples(s, NULL, 0, &err), 0);
    assert_int_equal(store_sqlite.put_note(s, "frozen", "1000", &err), 0);
    assert_int_equal(store_sqlite.put_note(s, "frozen", "2000", &err), 0);
    assert_int_equal(store_sqlite.put_note(s, "gone", "x", &err), 0);
    assert_int_equal(store_sqlite.put_note(s, "gone", NULL, &err), 0);
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
    assert_int_equal(all.n_notes, 1);
    assert_string_equal(all.notes[0].value, "2000");
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
                                     .snapshot = snapshot,
                                     .plan = "{\"plan\": 1}"};
    int r = store_sqlite.put_pass(s, &pass, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
}

static void test_passes(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    struct pass_record *list, pass;
    size_t n;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (uint64_t id = 1; id <= 5; id++)
        put_pass(s, id, id == 3 ? "" : "{\"snapshot\": \"\xc3\xa9\"}");
    assert_int_equal(store_sqlite.list_passes(s, 3, &a, &list, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_true(list[0].id == 5 && list[2].id == 3 && list[0].time == 1500 && !list[0].snapshot);
    assert_int_equal(store_sqlite.get_pass(s, 2, &a, &pass, &err), 0);
    assert_string_equal(pass.snapshot, "{\"snapshot\": \"\xc3\xa9\"}");
    assert_string_equal(pass.plan, "{\"plan\": 1}");
    assert_string_equal(pass.trigger, "interval");
    assert_true(pass.n_recommendations == 3 && pass.n_faults == 1 && pass.imbalance_after == 0.125);
    assert_int_equal(store_sqlite.get_pass(s, 3, &a, &pass, &err), 0);
    assert_string_equal(pass.snapshot, "");
    assert_int_equal(store_sqlite.get_pass(s, 77, &a, &pass, &err), -ENOENT);
    assert_int_equal(store_sqlite.prune(s, &(struct retention){.passes_kept = 2}, &err), 0);
    assert_int_equal(store_sqlite.list_passes(s, 10, &a, &list, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_true(list[1].id == 4);
    assert_int_equal(must_load(s, &a).last_pass, 5);
    store_close(s);
    tamper(
        &p,
        "UPDATE passes SET snapshot = x'0102' WHERE id = 4; UPDATE passes SET plan_size = -1 WHERE id = 5");
    s = must_open(&p);
    assert_int_equal(store_sqlite.get_pass(s, 4, &a, &pass, &err), -EIO);
    assert_non_null(strstr(err.text, "damaged pass"));
    assert_int_equal(store_sqlite.get_pass(s, 5, &a, &pass, &err), -EIO);
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
    struct pass_record *list;
    size_t n;
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
    assert_int_equal(store_sqlite.list_passes(s, 100, &a, &list, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_true(list[0].id == 10 && list[1].id == 9);
    store_close(s);
    assert_int_equal(store_open(p.state, 0, &s, &err), 0);
    put_pass(s, 11, noise); /* too large for all there is: kept all the same */
    assert_int_equal(store_sqlite.list_passes(s, 100, &a, &list, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_true(list[0].id == 11);
    store_close(s);
    remove_all(p.dir);
}

static void test_transactions(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct err err = {0};
    struct action_record twin = bare;
    const struct sample_record sample = {.vm = "a", .time = 1, .demand = {1, 1}};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(store_sqlite.put_action(s, &full, &err), 0);
    assert_int_equal(store_sqlite.put_samples(s, &sample, 1, &err), 0);
    store_sqlite.rollback(s);
    struct stored all = must_load(s, &a);

    assert_true(all.n_actions == 0 && all.n_samples == 0 && all.last_action == 0);
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(store_sqlite.put_action(s, &bare, &err), 0);
    assert_int_equal(store_sqlite.put_samples(s, &sample, 1, &err), 0);
    put_pass(s, 1, "{}");
    twin.id = 9;
    assert_int_equal(store_sqlite.put_action(s, &twin, &err), -EINVAL); /* takes only itself back */
    assert_int_equal(store_sqlite.commit(s, &err), 0);
    all = must_load(s, &a);
    assert_true(all.n_actions == 1 && all.n_samples == 1 && all.last_pass == 1);
    assert_int_equal(store_sqlite.begin(s, &err), 0); /* and closed without a commit */
    assert_int_equal(store_sqlite.put_action(s, &full, &err), 0);
    store_close(s);
    s = must_open(&p);
    assert_int_equal(must_load(s, &a).n_actions, 1);
    store_close(s);
    remove_all(p.dir);
}

/* ---- what cannot be opened ---- */

static void test_second_process(void **state)
{
    struct place p;
    struct store *s = NULL;
    struct err err = {0};

    (void)state;
    place_make(&p);
    int ready[2], done[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) { /* holds it until it is told to end */
        if (store_open(p.state, PASSES_MB, &s, &err) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        (void)close(done[1]);
        (void)!read(done[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(store_open(p.state, PASSES_MB, &s, &err), -EBUSY);
    assert_non_null(strstr(err.text, "in use by another ballastd (process "));
    assert_int_equal(atol(strstr(err.text, "process ") + 8) == (long)child, 1);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    store_close(must_open(&p)); /* it died without a word: nothing is left to tidy */
    for (int i = 0; i < 2; i++) {
        (void)close(ready[i]);
        (void)close(done[i]);
    }
    remove_all(p.dir);
}

/* How a database is spoiled, and what is said of it. */
static const struct {
    const char *sql; /* NULL: the file itself */
    long cut_at;
    const char *fill;
    const char *sentence;
} spoiled[] = {
    {"PRAGMA user_version = 99", 0, NULL, "was written by a newer version of Ballast"},
    {"PRAGMA application_id = 5", 0, NULL, "is a database of another program"},
    {NULL, 0,
     "this is not a database at all, but some text that is long enough to be looked at; and so on and on",
     "file is not a database"},
    {NULL, 5000, NULL, "the store "},
    {NULL, 100, NULL, "the store "},
    {"UPDATE actions SET state = 'dreaming'", 0, NULL, "has \"dreaming\" as state"},
    {"UPDATE actions SET depends_on = '1,x'", 0, NULL, "as depends_on, which this version does not know"},
    {"UPDATE actions SET priority = -1", 0, NULL, "has \"-1\" as priority"},
    {"UPDATE actions SET created = 'then'", 0, NULL, "has \"then\" as created"},
    {"DROP TABLE samples", 0, NULL, "no such table"},
};

static void test_spoiled(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(spoiled); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct place p;
        struct stored all;
        struct err err = {0};

        place_make(&p);
        struct store *s = must_open(&p);

        assert_int_equal(store_sqlite.put_action(s, &full, &err), 0);
        store_close(s);
        s = NULL;
        if (spoiled[i].sql) {
            tamper(&p, spoiled[i].sql);
        } else {
            assert_int_equal(truncate(p.db, spoiled[i].cut_at), 0);
            CLEANUP(fclosep) FILE *f = fopen(p.db, "ae");

            for (int k = 0; spoiled[i].fill && k < 100; k++)
                assert_true(fputs(spoiled[i].fill, f) >= 0);
        }
        int r = store_open(p.state, PASSES_MB, &s, &err);

        if (r == 0)
            r = store_sqlite.load(s, 0, 0, &a, &all, &err);
        if (r != -EIO || !strstr(err.text, spoiled[i].sentence))
            fail_msg("case %zu: %d \"%s\", expected \"...%s...\"", i, r, err.text, spoiled[i].sentence);
        store_close(s);
        remove_all(p.dir);
    }
}

static void test_directories(void **state)
{
    struct place p;
    struct store *s = NULL;
    struct err err = {0};
    char path[160];

    (void)state;
    place_make(&p);
    (void)snprintf(path, sizeof path, "%s/a/b/c", p.dir);
    assert_int_equal(store_open(path, PASSES_MB, &s, &err), 0); /* made all the way */
    store_close(s);
    (void)snprintf(path, sizeof path, "%s/a/b/c/ballast.db", p.dir);
    assert_int_equal(store_open(path, PASSES_MB, &s, &err), -ENOTDIR);
    (void)snprintf(path, sizeof path, "%s/a/b/c/ballast.db/state", p.dir);
    assert_int_equal(store_open(path, PASSES_MB, &s, &err), -ENOTDIR);
    assert_non_null(strstr(err.text, "the state directory "));
    assert_true(store_open("/proc/ballast", PASSES_MB, &s, &err) < 0);
    assert_int_equal(mkdir(p.state, 0700), 0);
    assert_int_equal(chmod(p.state, 0777), 0);
    assert_int_equal(store_open(p.state, PASSES_MB, &s, &err), -EPERM);
    assert_non_null(strstr(err.text, "can be written by everybody"));
    assert_int_equal(chmod(p.state, 0700), 0);
    assert_int_equal(symlink("/etc/passwd", p.db), 0); /* nobody's files are taken for ours */
    assert_true(store_open(p.state, PASSES_MB, &s, &err) < 0);
    remove_all(p.dir);
}

/* What a child does in a folder that it may not write to; it gives up root for it. */
static void test_read_only(void **state)
{
    struct place p;
    struct err err = {0};
    struct store *s = NULL;
    int status = 0;

    (void)state;
    place_make(&p);
    store_close(must_open(&p));
    assert_int_equal(chmod(p.dir, 0755), 0);
    assert_int_equal(chmod(p.state, 0555), 0);
    assert_int_equal(chmod(p.db, 0444), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) < 0)
            _exit(77);
        int r = store_open(p.state, PASSES_MB, &s, &err);

        _exit(r == -EACCES && strstr(err.text, "Permission denied") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(chmod(p.state, 0700), 0);
    remove_all(p.dir);
}

/* ---- what happens while it is open ---- */

/* The disk is full for a while: every put fails with a sentence, nothing is half there, and afterwards all is
 * well again. A limit on the size of files stands in for the disk. */
static void test_disk_full(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct rlimit limit = {.rlim_cur = 1024 * 1024, .rlim_max = RLIM_INFINITY};
    struct err err = {0};
    struct place p;
    uint64_t stored = 0;
    int r = 0;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint64_t id = 1; r == 0 && id < 100000; id++) {
        struct action_record x = full;

        x.id = id;
        x.uid = arena_printf(&a, "uid-%llu", (unsigned long long)id);
        assert_int_equal(store_sqlite.begin(s, &err), 0);
        for (int k = 0; r == 0 && k < 4; k++, x.id += 1000000, x.uid = arena_printf(&a, "%s+", x.uid))
            r = store_sqlite.put_action(s, &x, &err);
        if (r == 0)
            r = store_sqlite.commit(s, &err);
        else
            store_sqlite.rollback(s);
        stored += r == 0 ? 4 : 0;
    }
    assert_int_equal(r, -EIO);
    assert_true(strlen(err.text) > 20 && stored > 100);
    assert_int_equal(must_load(s, &a).n_actions, stored);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct action_record x = bare;

    x.id = 5000000;
    x.uid = "after";
    assert_int_equal(store_sqlite.put_action(s, &x, &err), 0);
    assert_int_equal(must_load(s, &a).n_actions, stored + 1);
    store_close(s);
    store_close(must_open(&p));
    remove_all(p.dir);
}

/* A child writes as fast as it can, and says what it was promised; then it is killed. */
static void write_until_killed(const struct place *p, int fd)
{
    struct store *s = must_open(p);
    struct err err = {0};

    for (uint64_t id = 1;; id++) {
        struct action_record x = full;
        char uid[32];

        (void)snprintf(uid, sizeof uid, "u%llu", (unsigned long long)id);
        x.id = id;
        x.uid = uid;
        x.state = ACTION_STARTING;
        x.task = NULL;
        if (store_sqlite.put_action(s, &x, &err) < 0)
            _exit(1);
        if (write(fd, &id, sizeof id) != (ssize_t)sizeof id)
            _exit(1);
        x.state = ACTION_RUNNING;
        x.task = "task-1";
        if (store_sqlite.begin(s, &err) < 0 || store_sqlite.put_action(s, &x, &err) < 0 ||
            store_sqlite.put_note(s, "last", uid, &err) < 0 || store_sqlite.commit(s, &err) < 0)
            _exit(1);
    }
}

static void test_killed(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct place p;
        int fds[2];
        uint64_t promised = 0, id;

        place_make(&p);
        assert_int_equal(pipe(fds), 0);
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(&p, fds[1]);
        (void)close(fds[1]);
        (void)usleep(60000 + (useconds_t)round * 7000);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        while (read(fds[0], &id, sizeof id) == (ssize_t)sizeof id)
            promised = id;
        (void)close(fds[0]);
        struct store *s = must_open(&p);
        struct stored all = must_load(s, &a);

        assert_true(all.n_actions >= promised); /* what was promised is there */
        assert_true(all.n_actions <= promised + 1);
        for (size_t i = 0; i < all.n_actions; i++) {
            const struct action_record *x = &all.actions[i];

            assert_int_equal(x->id, i + 1);
            assert_true((x->state == ACTION_RUNNING) == (x->task != NULL));
            /* together or not at all */
            if (x->state == ACTION_STARTING)
                assert_true(i + 1 == all.n_actions);
        }
        size_t running = all.n_actions;

        while (running > 0 && all.actions[running - 1].state == ACTION_STARTING)
            running--;
        if (running > 0)
            assert_string_equal(all.notes[0].value, all.actions[running - 1].uid);
        else
            assert_int_equal(all.n_notes, 0);
        store_close(s);
        remove_all(p.dir);
    }
}

/* Another program has it locked for writing: an error after a while, not a hang, and well again afterwards.
 */
static void test_locked_by_another_program(void **state)
{
    struct place p;
    struct err err = {0};
    sqlite3 *db = NULL;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(sqlite3_open(p.db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_sqlite.put_action(s, &full, &err), -EIO);
    assert_non_null(strstr(err.text, "database is locked"));
    assert_int_equal(store_sqlite.begin(s, &err), -EIO);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_sqlite.put_action(s, &full, &err), 0);
    (void)sqlite3_close(db);
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

        assert_int_equal(store_sqlite.put_samples(s, samples, n, &err), 0);
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
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_passes_fit),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_second_process),
        cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_directories),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_locked_by_another_program),
        cmocka_unit_test(test_many_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
