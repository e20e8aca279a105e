/* open.c: opens and locks the database, and checks it. Tables are made by schema.c. */
#include "store/backup.h"
#include "store/internal.h"
#include "store/schema.h"
#include "store/series_write.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a call waits for another program that reads the database. */
#define BUSY_MS 500

#define DIR_MODE 0700
#define FILE_MODE 0600

/* Like mkdir -p; existing folders keep their mode. */
static int make_directory(const char *dir, struct err *err)
{
    CLEANUP(freep) char *path = xstrdup(dir);
    struct stat st;

    for (char *c = path + 1;; c++) {
        char here = *c;

        if (here != '/' && here != '\0')
            continue;
        *c = '\0';
        if (mkdir(path, DIR_MODE) < 0 && errno != EEXIST)
            return err_set(err, -errno,
                           "the state directory %s cannot be created: %s; set state_dir to a folder that "
                           "this user may make",
                           dir, strerror(errno));
        *c = here;
        if (here == '\0')
            break;
    }
    if (stat(dir, &st) < 0)
        return err_set(err, -errno, "the state directory %s cannot be examined: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, -ENOTDIR, "the state directory %s is not a directory", dir);
    if (st.st_mode & S_IWOTH)
        return err_set(err, -EPERM, "the state directory %s is writable by everybody, expected mode 0700",
                       dir);
    return 0;
}

static int refuse_second(const char *dir, int fd, struct err *err)
{
    char pid[32] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);

    pid[n > 0 ? n : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    return err_set(err, -EBUSY,
                   "the state directory %s is in use by another ballastd (process %s), expected one "
                   "service for each: stop that process, or set another state_dir and socket here",
                   dir, pid[0] ? pid : "not known");
}

/* The lock lasts while the file is open, so a crash needs no cleaning up. */
static int lock_directory(const char *dir, const char *path, int *ret_fd, struct err *err)
{
    CLEANUP(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);

    if (fd < 0)
        return err_set(err, -errno, "%s cannot be opened: %s; set state_dir to a folder of this user", path,
                       strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? refuse_second(dir, fd, err)
                                    : err_set(err, -errno, "%s cannot be locked: %s", path, strerror(errno));
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* SQLite would use the process's umask; its other files take this file's mode. */
static int create_file(const char *path, struct err *err)
{
    CLEANUP(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(err, -errno, "the store %s cannot be opened: %s", path, strerror(errno));
    return S_ISREG(st.st_mode) ? 0 : err_set(err, -EINVAL, "the store %s is not a regular file", path);
}

static void disconnect(struct store *s)
{
    for (int i = 0; i < ST_COUNT; i++) {
        (void)sqlite3_finalize(s->st[i]);
        s->st[i] = NULL;
    }
    for (int i = 0; i < record_kind_count; i++) {
        (void)sqlite3_finalize(s->put[i]);
        s->put[i] = NULL;
    }
    if (s->db && s->lock_fd >= 0 && store_find_shortened(s))
        (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_close(s->db);
    s->db = NULL;
}

/* A database in memory has no write-ahead log: SQLite leaves that setting out. */
static int connect_to_write(struct store *s, struct err *err)
{
    static const char pragmas[] =
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
        "PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL;";

    if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return store_failed(s, "be opened", err);
    (void)sqlite3_busy_timeout(s->db, BUSY_MS);
    (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return sqlite3_exec(s->db, pragmas, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                       : store_failed(s, "be opened", err);
}

/* Checks all tables except passes, consoles, looks and means, which are large; damage there is an error when
 * a row is read. */
static int check_tables(struct store *s, struct err *err)
{
    static const char *const tables[] = {
        "instance", "actions", "migrations", "rates",          "dirty_rates", "samples",
        "settings", "notes",   "hosts",      "energy",         "events",      "patterns",
        "failures", "tokens",  "series",     "series_objects",
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const char *found = NULL;
        char sql[64];

        (void)snprintf(sql, sizeof sql, "PRAGMA quick_check(%s)", tables[i]);
        int r = store_read_text(s, sql, NULL, &a, &found, err);

        if (r < 0)
            return r;
        if (!found || strcmp(found, "ok") != 0)
            return err_set(err, -EIO,
                           "the store %s is damaged (%s: %.100s); restore it, or move it away to start with "
                           "an empty one",
                           s->path, tables[i], found ? found : "no answer");
    }
    return 0;
}

/* The way back: the version of Ballast that was replaced cannot read the upgraded store. */
static int upgrade(struct store *s, const char *state_dir, struct err *err)
{
    CLEANUP(freep) char *former = NULL;
    int64_t version = 0;
    int r = schema_older(s->db, s->path, &version, err);

    if (r < 0)
        return r;
    if (version > 0) {
        if (asprintf(&former, "%s/" STORE_FORMER, state_dir) < 0)
            return err_set(err, -ENOMEM, "out of memory");
        if ((r = store_backup(state_dir, former, true, err)) < 0)
            return r;
        /* the copy opened and closed the database, which ends all locks that this process had on it: without
         * them another process that copies the store would delete the log when it closes it */
        disconnect(s);
        if ((r = connect_to_write(s, err)) < 0)
            return r;
    }
    s->upgraded = version > 0;
    return schema_migrate(s->db, s->path, err);
}

bool store_was_upgraded(const struct store *s)
{
    return s->upgraded;
}

static int name_files(struct store *s, const char *state_dir, struct err *err)
{
    static const char *const names[] = {"ballast.db", "ballast.db-wal", "ballast.db-shm", "lock"};

    for (int i = 0; i < store_file_count; i++) {
        if (asprintf(&s->files[i].path, "%s/%s", state_dir, names[i]) >= 0)
            continue;
        s->files[i].path = NULL;
        return err_set(err, -ENOMEM, "out of memory");
    }
    s->path = xstrdup(s->files[FILE_DATABASE].path);
    return 0;
}

static int open_database(struct store *s, const char *state_dir, struct err *err)
{
    char former[64] = "";
    int r;

    if (pread(s->lock_fd, former, sizeof former - 1, 0) < 0)
        return err_set(err, -errno, "%s cannot be read: %s", s->files[FILE_LOCK].path, strerror(errno));
    if ((r = create_file(s->path, err)) < 0 || (r = connect_to_write(s, err)) < 0 ||
        (r = upgrade(s, state_dir, err)) < 0 || (r = check_tables(s, err)) < 0 ||
        (r = store_prepare(s, err)) < 0)
        return r;
    return store_recognise(s, former, err);
}

int store_reconnect(struct store *s, struct err *err)
{
    disconnect(s);
    int r = connect_to_write(s, err);

    if (r == 0 && (r = store_prepare(s, err)) == 0)
        store_watch_files(s);
    return r;
}

int store_open(const char *state_dir, int64_t passes_mb, struct store **ret, struct err *err)
{
    struct store *s = xcalloc(1, sizeof *s);
    int r;

    s->lock_fd = -1;
    s->passes_bytes = passes_mb * 1024 * 1024;
    if ((r = make_directory(state_dir, err)) < 0 || (r = name_files(s, state_dir, err)) < 0 ||
        (r = lock_directory(state_dir, s->files[FILE_LOCK].path, &s->lock_fd, err)) < 0 ||
        (r = open_database(s, state_dir, err)) < 0) {
        store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

int store_open_in_memory(struct store **ret, struct err *err)
{
    struct store *s = xcalloc(1, sizeof *s);
    int r;

    s->path = xstrdup(":memory:");
    s->lock_fd = -1;
    if ((r = connect_to_write(s, err)) < 0 || (r = schema_migrate(s->db, s->path, err)) < 0 ||
        (r = store_prepare(s, err)) < 0) {
        store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

static bool is_a_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int store_open_to_read(const char *path, struct store **ret, struct err *err)
{
    struct store *s = xcalloc(1, sizeof *s);
    int64_t older = 0;
    int r;

    s->lock_fd = -1;
    if (asprintf(&s->path, "%s%s", path, is_a_file(path) ? "" : "/ballast.db") < 0) {
        free(s);
        return err_set(err, -ENOMEM, "out of memory");
    }
    if ((r = store_connect(s->path, &s->db, err)) == 0 &&
        (r = schema_older(s->db, s->path, &older, err)) == 0 && older > 0)
        r = err_set(
            err, -EIO,
            "the store %s is of an older version of Ballast, expected this one; the service upgrades it "
            "at its start",
            s->path);
    /* the moment that is read begins with the first question */
    if (r == 0 && sqlite3_exec(s->db, "PRAGMA query_only = ON; BEGIN; SELECT name FROM instance", NULL, NULL,
                               NULL) != SQLITE_OK)
        r = store_failed(s, "be opened", err);
    if (r < 0) {
        store_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    disconnect(s);
    series_write_free(s->series);
    if (s->lock_fd >= 0)
        (void)close(s->lock_fd);
    for (int i = 0; i < store_file_count; i++)
        free(s->files[i].path);
    free(s->path);
    free(s);
}
