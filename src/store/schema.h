/* schema.h: creates the tables, and upgrades a database of an older version. */
#ifndef BALLAST_STORE_SCHEMA_H
#define BALLAST_STORE_SCHEMA_H

#include <ballast/err.h>

#include <sqlite3.h>
#include <stdint.h>

/* The copy of the store as it was before its last upgrade, in the folder of the store. */
#define STORE_FORMER "before-upgrade.db"

/* The version of a database that schema_migrate() would upgrade; 0: it is new or up to date. -EIO as there.
 */
int schema_older(sqlite3 *db, const char *path, int64_t *ret, struct err *err);

/* Upgrades a database for which schema_older() succeeded, in one transaction. */
int schema_migrate(sqlite3 *db, const char *path, struct err *err);

/* The database is one of Ballast, and not of a newer version. -EIO: it is not. */
int schema_check_owner(sqlite3 *db, const char *path, struct err *err);

/* Notes of the store itself: the file that it is in, and how many transactions it has seen (recognise.c).
 * NOTES_OWN matches their keys. */
#define NOTES_OWN "store:*"
#define NOTE_FILE "store:file"
#define NOTE_WRITES "store:writes"
#define NOTE_COMMAND "store:command/" /* store_remember_command() */

/* Of a copy: gives it another random name, and notes that it is in no file that was ever opened. */
int schema_rename_instance(sqlite3 *db, const char *path, struct err *err);

#endif
