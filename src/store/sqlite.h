/* sqlite.h: the engine's store (store_ops in engine/ports.h) in an SQLite database.
 *
 * STATE_DIR/ballast.db holds everything that must outlive a restart; README.md has the tables. What a put
 * wrote is on the disk when it returns (write-ahead log, synchronous=FULL), a group of puts at its commit.
 * The directory is created with mode 0700 and the database with 0600. STATE_DIR/lock is locked as long as the
 * store is open, so that a second service is refused; the kernel lets go of it when the process dies.
 *
 * No call ends the process or leaves half of what it should have written: a full or failing disk, or a
 * database that is damaged, is -EIO and a sentence. Used by one thread at a time. */
#ifndef BALLAST_STORE_SQLITE_H
#define BALLAST_STORE_SQLITE_H

#include "engine/ports.h"

#include <ballast/err.h>

#include <stdint.h>

/* Opens or creates the store below the directory. passes_mb: how much room the passes may take, compressed;
 * the oldest go when it is exceeded, the newest is always kept.
 *
 * -EBUSY: another process has it open. -EIO: it is damaged, or written by a newer version of Ballast. Else
 * what the system said of the directory (-EACCES, -ENOTDIR, -EROFS, ...). */
int store_open(const char *state_dir, int64_t passes_mb, struct store **ret, struct err *err);

/* NULL is fine. What was begun and not committed is not stored. */
void store_close(struct store *s);

extern const struct store_ops store_sqlite;

#endif
