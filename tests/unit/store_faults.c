/* Faults of the store: a second process, damaged files, a full disk, kill -9. */
#include "store_place.h"

#include "base/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    assert_int_equal(strtol(strstr(err.text, "process ") + strlen("process "), NULL, 10), (long)child);
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

        assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &full}, &err), 0);
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

struct page {
    char table[32];
    long root, size;
};

/* The first pages of all tables whose damage is found at the start. */
static size_t list_pages(const struct place *p, struct page *list, size_t most)
{
    static const char sql[] =
        "SELECT name, rootpage, page_size FROM sqlite_master, pragma_page_size"
        " WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name NOT IN ('passes', 'consoles', 'looks', 'look_blocks', 'mean_blocks')";
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    size_t n = 0;

    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW && n < most) {
        (void)snprintf(list[n].table, sizeof list[n].table, "%s", (const char *)sqlite3_column_text(st, 0));
        list[n].root = (long)sqlite3_column_int64(st, 1);
        list[n++].size = (long)sqlite3_column_int64(st, 2);
    }
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return n;
}

/* Whatever is read back at the start is looked through before anything is believed. */
static void test_damaged_tables(void **state)
{
    struct page pages[32];
    struct place p;
    size_t n;

    (void)state;
    place_make(&p);
    store_close(must_open(&p));
    n = list_pages(&p, pages, ELEMENTS(pages));
    assert_true(n > 10 && n < ELEMENTS(pages));
    for (size_t i = 0; i < n; i++) {
        CLEANUP(fclosep) FILE *f = fopen(p.db, "r+e");
        struct store *s = NULL;
        struct err err = {0};
        char was[65536], junk[65536];

        assert_true(f && pages[i].size <= (long)sizeof was);
        memset(junk, 0xff, sizeof junk);
        setbuf(f, NULL);
        assert_int_equal(fseek(f, (pages[i].root - 1) * pages[i].size, SEEK_SET), 0);
        assert_int_equal(fread(was, (size_t)pages[i].size, 1, f), 1);
        assert_int_equal(fseek(f, (pages[i].root - 1) * pages[i].size, SEEK_SET), 0);
        assert_int_equal(fwrite(junk, (size_t)pages[i].size, 1, f), 1);
        if (store_open(p.state, PASSES_MB, &s, &err) != -EIO || !strstr(err.text, pages[i].table))
            fail_msg("%s: \"%s\"", pages[i].table, err.text);
        assert_int_equal(fseek(f, (pages[i].root - 1) * pages[i].size, SEEK_SET), 0);
        assert_int_equal(fwrite(was, (size_t)pages[i].size, 1, f), 1);
    }
    store_close(must_open(&p));
    remove_all(p.dir);
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
    assert_non_null(strstr(err.text, "is writable by everybody"));
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
    struct rlimit limit = {.rlim_cur = 1280 * 1024, .rlim_max = RLIM_INFINITY};
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
            r = store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &x}, &err);
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
    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &x}, &err), 0);
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
        if (store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &x}, &err) < 0)
            _exit(1);
        if (write(fd, &id, sizeof id) != (ssize_t)sizeof id)
            _exit(1);
        x.state = ACTION_RUNNING;
        x.task = "task-1";
        if (store_sqlite.begin(s, &err) < 0 ||
            store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &x}, &err) < 0 ||
            store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"last", uid}}, &err) <
                0 ||
            store_sqlite.commit(s, &err) < 0)
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
    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &full}, &err), -EIO);
    assert_non_null(strstr(err.text, "database is locked"));
    assert_int_equal(store_sqlite.begin(s, &err), -EIO);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &full}, &err), 0);
    (void)sqlite3_close(db);
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_process), cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_damaged_tables), cmocka_unit_test(test_directories),
        cmocka_unit_test(test_read_only),      cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_killed),         cmocka_unit_test(test_locked_by_another_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
