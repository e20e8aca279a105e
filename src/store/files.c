/* files.c: whether the store's files are still the ones that were opened; mends what can be mended. */
#include "store/internal.h"

#include "base/log.h"

#include <errno.h>
#include <sys/stat.h>

void store_watch_files(struct store *s)
{
    for (int i = 0; i < store_file_count; i++) {
        struct watched_file *f = &s->files[i];
        struct stat st = {0};

        (void)stat(f->path, &st);
        f->device = st.st_dev;
        f->inode = st.st_ino;
        f->size = 0;
    }
}

/* Of the file that is open, whatever its path leads to by now. */
static off_t open_size(struct store *s, int which)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;

    if (sqlite3_file_control(s->db, "main", which, &file) != SQLITE_OK || !file || !file->pMethods ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return 0;
    return size;
}

const struct watched_file *store_find_shortened(struct store *s)
{
    static const int pointers[] = {
        [FILE_DATABASE] = SQLITE_FCNTL_FILE_POINTER, [FILE_LOG] = SQLITE_FCNTL_JOURNAL_POINTER};

    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        struct watched_file *f = &s->files[i];
        const off_t size = open_size(s, pointers[i]);

        if (size < f->size)
            return f;
        f->size = size;
    }
    return NULL;
}

static bool is_in_place(const struct watched_file *f)
{
    struct stat st;

    return stat(f->path, &st) == 0 && st.st_dev == f->device && st.st_ino == f->inode;
}

/* All frames of the open log go into the database. Closing the connection deletes what is in the log's place,
 * and the next one makes a new log and index. */
static int mend(struct store *s, const struct watched_file *lost, struct err *err)
{
    if (sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
        return store_failed(s, "write its log into the database", err);
    int r = store_reconnect(s, err);

    if (r == 0)
        log_warning("%s was deleted or replaced while the service runs; nothing was lost: the service has "
                    "written what was in it into the database, and goes on with a new one",
                    lost->path);
    return r;
}

int store_check_files(struct store *s, struct err *err)
{
    static const char restore[] = "restore a copy of the store, and restart the service";
    const struct watched_file *f;

    if (s->lock_fd < 0)
        return 0;
    for (int i = FILE_DATABASE; i <= FILE_LOCK; i += FILE_LOCK - FILE_DATABASE) {
        f = &s->files[i];
        if (!is_in_place(f))
            return err_set(err, -EIO,
                           "%s %s was deleted or replaced while the service runs: what is stored now would "
                           "be lost at the next start, so nothing new is started. Put the file back, or %s",
                           i == FILE_LOCK ? "the lock" : "the store", f->path, restore);
    }
    if (!s->st[ST_BEGIN]) /* the last try to mend it has failed */
        return store_reconnect(s, err);
    if ((f = store_find_shortened(s)) != NULL)
        return err_set(err, -EIO,
                       "%s was shortened while the service runs: a part of what was stored is lost, and "
                       "what is stored now would be, so nothing new is started. To go on with what is "
                       "left, restart the service, which then starts paused; or %s",
                       f->path, restore);
    for (int i = FILE_LOG; i <= FILE_INDEX && !s->in_transaction; i++) {
        f = &s->files[i];
        if (f->inode != 0 && !is_in_place(f))
            return mend(s, f, err);
    }
    return 0;
}
