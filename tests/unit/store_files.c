/* The store's files are deleted, replaced or shortened under the open store; and stores that are copies, or
 * older than what was open before. What was acknowledged is there after a kill, or the next start says that
 * it may not be. */
#include "store_place.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "store/backup.h"
#include "store/events.h"
#include "store/internal.h"
#include "store/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROUNDS 96

static const char *const files[] = {"ballast.db-wal", "ballast.db-shm", "ballast.db", "lock"};
enum { LOG, INDEX, DATABASE, LOCK };

enum harm { DELETE, REPLACE, SHORTEN, EMPTY, harm_count };

static void copy_file(const char *from, const char *to)
{
    CLEANUP(fclosep) FILE *in = fopen(from, "re");
    CLEANUP(fclosep) FILE *out = fopen(to, "we");
    char bytes[4096];
    size_t n;

    assert_true(in && out);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
}

static void do_harm(const struct place *p, int file, enum harm harm)
{
    char path[160], other[168];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s/%s", p->state, files[file]);
    (void)snprintf(other, sizeof other, "%s.other", path);
    if (stat(path, &st) < 0)
        return;
    switch (harm) {
    case DELETE:
        (void)unlink(path);
        break;
    case REPLACE:
        copy_file(path, other);
        (void)rename(other, path);
        break;
    case SHORTEN:
        (void)!truncate(path, st.st_size / 2);
        break;
    case EMPTY:
        (void)!truncate(path, 0);
        break;
    case harm_count:
        break;
    }
}

static int write_number(struct store *s, uint64_t i, struct err *err)
{
    char text[24], large[3000];
    int r = store_sqlite.begin(s, err);

    if (r < 0)
        return r;
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)i);
    memset(large, 'x', sizeof large - 1); /* so that some pages are written */
    large[sizeof large - 1] = '\0';
    if ((r = store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"last", text}}, err)) <
            0 ||
        (r = store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){text, large}}, err)) <
            0) {
        store_sqlite.rollback(s);
        return r;
    }
    return store_sqlite.commit(s, err);
}

/* What a store says after a start. */
struct found {
    int code;
    uint64_t last;
    bool doubted;
};

static struct found look_again(const struct place *p)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct store *s = NULL;
    struct found f = {0};
    struct err err = {0};

    f.code = store_open(p->state, PASSES_MB, &s, &err);
    if (f.code < 0)
        return f;
    struct stored all = must_load(s, &a);
    const char *last = ports_find_note(&all, "last");

    f.last = last ? strtoull(last, NULL, 10) : 0;
    f.doubted = ports_find_note(&all, NOTE_RESTORED) != NULL;
    store_close(s);
    return f;
}

/* A process that writes, and whose files suffer meanwhile. It tells what was acknowledged. */
static void write_and_suffer(const struct place *p, uint64_t seed, int file, int harm, int fd)
{
    struct rng rng = {seed};
    struct store *s = must_open(p);
    struct err err = {0};
    const uint64_t n = 2 + rng_below(&rng, seed % 12 == 0 ? 500 : 40), at = rng_below(&rng, (uint32_t)n);

    (void)signal(SIGBUS, SIG_DFL); /* without its index the process may die: that is a kill, too */
    for (uint64_t i = 1; i <= n; i++) {
        if (i == at + 1)
            do_harm(p, file, (enum harm)harm);
        if (write_number(s, i, &err) == 0 && write(fd, &i, sizeof i) != (ssize_t)sizeof i)
            _exit(1);
    }
    _exit(0); /* as by a kill: nothing is closed */
}

static uint64_t suffer(const struct place *p, uint64_t seed, int file, int harm, uint64_t *ret_n)
{
    uint64_t promised = 0, id;
    int fds[2];

    *ret_n = 0;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        write_and_suffer(p, seed, file, harm, fds[1]);
    (void)close(fds[1]);
    while (read(fds[0], &id, sizeof id) == (ssize_t)sizeof id) {
        promised = id;
        ++*ret_n;
    }
    (void)close(fds[0]);
    (void)waitpid(child, NULL, 0);
    return promised;
}

static void test_nothing_is_lost_in_silence(void **state)
{
    unsigned said = 0, mended = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        const int file = (int)(seed % ELEMENTS(files)), harm = (int)(seed / ELEMENTS(files) % harm_count);
        struct place p;
        uint64_t n;

        place_make(&p);
        const uint64_t promised = suffer(&p, seed, file, harm, &n);
        const struct found f = look_again(&p);

        if (f.code == 0 && f.last < promised && !f.doubted)
            fail_msg("seed %llu, %s, harm %d: %llu were acknowledged, %llu are there, and nothing is said",
                     (unsigned long long)seed, files[file], harm, (unsigned long long)promised,
                     (unsigned long long)f.last);
        /* without its log or its index nothing is lost: the store goes on */
        if (file <= INDEX && harm <= REPLACE) {
            assert_int_equal(f.code, 0);
            assert_true(f.last == promised && n == promised && !f.doubted);
            mended++;
        }
        said += f.code < 0 || f.doubted;
        remove_all(p.dir);
    }
    assert_true(mended > 10 && said > 10);
}

/* What would not survive is an error at once, and nothing of it is there later. */
static void test_shortened(void **state)
{
    (void)state;
    for (int file = LOG; file <= DATABASE; file += DATABASE - LOG) {
        for (int harm = SHORTEN; harm <= EMPTY; harm++) {
            struct token_record token = {.name = "t", .role = ROLE_ADMIN, .created_by = "root"};
            struct err err = {0};
            struct place p;

            place_make(&p);
            struct store *s = must_open(&p);

            for (uint64_t i = 1; i < 5; i++)
                assert_int_equal(write_number(s, i, &err), 0);
            if (file == DATABASE) /* everything has come into it */
                assert_int_equal(
                    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
                    SQLITE_OK);
            if (file == DATABASE)
                assert_int_equal(write_number(s, 5, &err), -EIO); /* the log is shorter: by another program */
            store_close(s);
            s = must_open(&p);
            assert_int_equal(write_number(s, 6, &err), 0);
            do_harm(&p, file, (enum harm)harm);
            for (int i = 0; i < 2; i++) {
                assert_int_equal(write_number(s, 7, &err), -EIO);
                assert_non_null(strstr(err.text, "was shortened while the service runs"));
                assert_int_equal(store_put_token(s, &token, &err), -EIO);
                assert_int_equal(store_delete_token(s, "x", &err), -EIO);
            }
            store_close(s);
            const struct found f = look_again(&p);

            assert_true(f.code < 0 || f.doubted);
            assert_true(f.last != 7);
            remove_all(p.dir);
        }
    }
}

/* The log is deleted while a transaction is open: the commit writes it again. */
static void test_deleted_within(void **state)
{
    struct err err = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(
        store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"last", "3"}}, &err), 0);
    do_harm(&p, LOG, DELETE);
    assert_int_equal(store_sqlite.commit(s, &err), 0);
    char copy[160];

    (void)snprintf(copy, sizeof copy, "%s/copy.db", p.dir);
    copy_file(p.db, copy); /* what a kill now leaves: the database alone */
    store_close(s);
    copy_file(copy, p.db);
    assert_int_equal(look_again(&p).last, 3);
    remove_all(p.dir);
}

/* ---- copies and older states ------------------------------------------------------------------- */

static struct place P;
static char SAVED[160];

static void write_one(uint64_t i)
{
    struct err err = {0};
    struct store *s = must_open(&P);

    assert_int_equal(write_number(s, i, &err), 0);
    store_close(s);
}

static void shell(const char *format, const char *a, const char *b)
{
    char command[512];
    int status = 1;

    (void)snprintf(command, sizeof command, format, a, b);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nothing(void)
{
}

static void moved_folder(void)
{
    shell("mv %s %s.moved", P.state, P.state);
    shell("mv %s.moved %s", P.state, P.state);
}

static void killed(void)
{
    uint64_t n;

    (void)suffer(&P, 1, LOG, harm_count, &n);
}

static void copied_folder(void)
{
    shell("cp -a %s %s.other", P.state, P.state);
    shell("rm -r %s", P.state, "");
    shell("mv %s.other %s", P.state, P.state);
}

static void restored_backup(void)
{
    struct err err = {0};

    assert_int_equal(store_backup(P.state, SAVED, true, &err), 0);
    shell("rm %s/ballast.db*", P.state, "");
    shell("cp %s %s", SAVED, P.db);
}

static void restored_backup_elsewhere(void)
{
    restored_backup();
    shell("rm %s/lock", P.state, "");
}

/* The same file, with what it had before. */
static void put_back_in_place(void)
{
    shell("cp %s %s", P.db, SAVED);
    write_one(2);
    shell("cp %s %s", SAVED, P.db);
}

static void deleted_database(void)
{
    shell("rm %s/ballast.db*", P.state, "");
}

static void deleted_folder(void)
{
    shell("rm -r %s", P.state, "");
}

static void deleted_log(void)
{
    uint64_t n;

    (void)suffer(&P, 1, LOG, harm_count, &n);
    do_harm(&P, LOG, DELETE);
}

static void of_an_older_version(void)
{
    tamper(&P, "DELETE FROM notes WHERE key GLOB 'store:*'");
    shell("echo 4711 > %s/lock", P.state, "");
}

static const struct {
    const char *what;
    void (*happens)(void);
    bool doubted;
} cases[] = {
    {"nothing", nothing, false},
    {"the folder was moved", moved_folder, false},
    {"killed", killed, false},
    {"an upgrade", of_an_older_version, false},
    {"all of it was deleted", deleted_folder, false},
    {"cp -a", copied_folder, true},
    {"a backup", restored_backup, true},
    {"a backup, elsewhere", restored_backup_elsewhere, true},
    {"an older copy in the same file", put_back_in_place, true},
    {"the database was deleted", deleted_database, true},
    {"the log was deleted after a kill", deleted_log, true},
};

static void test_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct err err = {0};

        place_make(&P);
        (void)snprintf(SAVED, sizeof SAVED, "%s/saved.db", P.dir);
        write_one(1);
        cases[i].happens();
        for (int k = 0; k < 2; k++) { /* until a person resumes */
            if (look_again(&P).doubted != cases[i].doubted)
                fail_msg("%s: %d", cases[i].what, k);
        }
        struct store *s = must_open(&P);

        assert_int_equal(
            store_sqlite.forget(
                s, &(struct record){RECORD_NOTE, .note = &(struct note){.key = NOTE_RESTORED}}, &err),
            0);
        store_close(s);
        assert_false(look_again(&P).doubted);
        remove_all(P.dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost_in_silence),
        cmocka_unit_test(test_shortened),
        cmocka_unit_test(test_deleted_within),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
