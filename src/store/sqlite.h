/* sqlite.h: the engine's store (store_ops in engine/ports.h) in an SQLite database.
 *
 * STATE_DIR/ballast.db holds all state that must survive a restart; README.md has the tables. A put is on the
 * disk when it returns (write-ahead log, synchronous=FULL), a transaction when it commits. The directory is
 * created with mode 0700 and the database with 0600. STATE_DIR/lock is locked while the store is open, so
 * that a second service is refused; the kernel releases the lock when the process dies.
 *
 * No call ends the process or leaves a partial write: a full or failing disk, or a damaged database, is -EIO
 * and a sentence. Used by one thread at a time. */
#ifndef BALLAST_STORE_SQLITE_H
#define BALLAST_STORE_SQLITE_H

#include "engine/ports.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stdint.h>

/* Opens or creates the store below the directory. passes_mb: the most space for the passes, compressed;
 * beyond it the oldest are deleted, the newest is always kept.
 *
 * -EBUSY: another process has the store open. -EIO: the store is damaged, or written by a newer version of
 * Ballast. Other errors are the system's for the directory (-EACCES, -ENOTDIR, -EROFS, ...). */
int store_open(const char *state_dir, int64_t passes_mb, struct store **ret, struct err *err);

/* Opens an empty store that is gone when it is closed: for simulated runs. */
int store_open_in_memory(struct store **ret, struct err *err);

/* The most space that the store may use (limit.h); without it there is no limit. */
void store_set_limit(struct store *s, int64_t mb);

/* Opens the store below a directory, or a copy of one in a file, for questions only, while a service may have
 * it open too: store_each_look(), the functions of history.h and events.h that list. All of them see the
 * store as it was now; close it soon, because the write-ahead log grows meanwhile. -EIO also for a store of
 * an older version. */
int store_open_to_read(const char *path, struct store **ret, struct err *err);

/* Whether store_open() found a store of an older version. It has upgraded it, and left a copy as it was in
 * STATE_DIR/before-upgrade.db, with which the older version can run again. */
bool store_was_upgraded(const struct store *s);

/* NULL is fine. An open transaction is rolled back. */
void store_close(struct store *s);

extern const struct store_ops store_sqlite;

#endif
