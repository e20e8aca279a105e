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

/* Gives the store another random name. */
int schema_rename_instance(sqlite3 *db, const char *path, struct err *err);

#endif
