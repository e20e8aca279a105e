/* backup.c: copies a store with SQLite's backup interface, by a connection of its own. Restoring is putting
 * the copy in place of the store while no service runs. */
#include "store/backup.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/internal.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 10000 /* a writer holds its lock for a transaction */

static void closep_db(sqlite3 **db)
{
    (void)sqlite3_close(*db);
}

static int failed(sqlite3 *db, const char *path, const char *doing, struct err *err)
{
    int system = db ? sqlite3_system_errno(db) : 0;

    return err_set(err, -EIO, "%s cannot be %s: %s%s%s", path, doing,
                   db ? sqlite3_errmsg(db) : "out of memory", system ? ": " : "",
                   system ? strerror(system) : "");
}

/* SQLite itself reports every cause as "unable to open database file". */
static int check_readable(const char *path, struct err *err)
{
    CLEANUP(closep) int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0)
        return 0;
    return err_set(err, -errno, "the store %s cannot be opened: %s%s", path, strerror(errno),
                   errno == EACCES ? "; the service's user and root may read it" : "");
}

int store_connect(const char *path, sqlite3 **ret, struct err *err)
{
    int r = check_readable(path, err);

    if (r < 0)
        return r;
    /* read and write: a reader, too, writes to the shared memory of the write-ahead log */
    if (sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return failed(*ret, path, "opened", err);
    (void)sqlite3_busy_timeout(*ret, BUSY_MS);
    return schema_check_owner(*ret, path, err);
}

/* All pages in one step: a step ends with the source's lock, and after a change the copy would begin anew. */
static int copy_pages(sqlite3 *from, sqlite3 *to, const char *path, struct err *err)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");

    if (!b)
        return failed(to, path, "written", err);
    (void)sqlite3_backup_step(b, -1);
    return sqlite3_backup_finish(b) == SQLITE_OK ? 0 : failed(to, path, "written", err);
}

/* A single file without a log beside it, with a name of its own, and sound. */
static int complete(sqlite3 *db, const char *path, struct err *err)
{
    sqlite3_stmt *st = NULL;
    int r = 0;

    if (sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
        return failed(db, path, "written", err);
    if ((r = schema_rename_instance(db, path, err)) < 0)
        return r;
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK ||
        sqlite3_step(st) != SQLITE_ROW)
        r = failed(db, path, "checked", err);
    else if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
        r = err_set(err, -EIO, "the store is damaged, no copy was made: %.100s",
                    (const char *)sqlite3_column_text(st, 0));
    (void)sqlite3_finalize(st);
    return r;
}

static int copy_to(const char *source, const char *path, struct err *err)
{
    CLEANUP(closep_db) sqlite3 *from = NULL;
    CLEANUP(closep_db) sqlite3 *to = NULL;
    int r = store_connect(source, &from, err);

    if (r < 0)
        return r;
    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return failed(to, path, "written", err);
    if ((r = copy_pages(from, to, path, err)) < 0)
        return r;
    return complete(to, path, err);
}

/* To the disk before the name: a file under its final name is whole. */
static int put_in_place(int fd, const char *temporary, const char *file, bool replace, struct err *err)
{
    CLEANUP(freep) char *copy = xstrdup(file);
    int r = fsync(fd);

    if (r == 0)
        r = replace ? rename(temporary, file) : link(temporary, file);
    if (r < 0 && errno == EEXIST)
        return err_set(err, -EEXIST, "%s exists; --force replaces it", file);
    if (r < 0)
        return err_set(err, -errno, "%s cannot be written: %s", file, strerror(errno));
    CLEANUP(closep) int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)(dir >= 0 && fsync(dir));
    return 0;
}

/* Whether the file is one of those that make up the store, under whatever path. */
static bool is_of_store(const char *state_dir, const struct stat *file)
{
    static const char *const names[] = {"ballast.db", "ballast.db-wal", "ballast.db-shm", "lock"};
    struct stat st;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP(freep) char *path = NULL;

        if (asprintf(&path, "%s/%s", state_dir, names[i]) >= 0 && stat(path, &st) == 0 &&
            st.st_dev == file->st_dev && st.st_ino == file->st_ino)
            return true;
    }
    return false;
}

/* A copy replaces a file only if that is asked for, and never what cannot be an earlier copy: a device, a
 * socket, a link, or the store itself. */
static int check_target(const char *state_dir, const char *file, bool replace, struct err *err)
{
    struct stat st;

    if (!file[0])
        return err_set(err, -EINVAL, "the name of the file is empty, expected a path");
    if (lstat(file, &st) < 0)
        return 0; /* what else is wrong with the path shows when it is written */
    if (is_of_store(state_dir, &st))
        return err_set(err, -EEXIST, "%s belongs to the store itself, expected another file", file);
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EEXIST, "%s is not a regular file, expected one, or a new name", file);
    return replace ? 0 : err_set(err, -EEXIST, "%s exists; --force replaces it", file);
}

int store_backup(const char *state_dir, const char *file, bool replace, struct err *err)
{
    CLEANUP(freep) char *source = NULL;
    CLEANUP(freep) char *temporary = NULL;
    int r = check_target(state_dir, file, replace, err);

    if (r < 0)
        return r;
    if (asprintf(&source, "%s/ballast.db", state_dir) < 0 || asprintf(&temporary, "%s.XXXXXX", file) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    CLEANUP(closep) int fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */

    if (fd < 0)
        return err_set(err, -errno, "%s cannot be written: %s", file, strerror(errno));
    r = copy_to(source, temporary, err);
    if (r == 0)
        r = put_in_place(fd, temporary, file, replace, err);
    (void)unlink(temporary);
    return r;
}
