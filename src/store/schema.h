/* schema.h: creates the tables, and upgrades a database of an older version. */
#ifndef BALLAST_STORE_SCHEMA_H
#define BALLAST_STORE_SCHEMA_H

#include <ballast/err.h>

#include <sqlite3.h>

/* Upgrades the database to this version's tables, in one transaction. -EIO: the database is of a newer
 * version, or not a database of Ballast. */
int schema_migrate(sqlite3 *db, const char *path, struct err *err);

/* The database is one of Ballast, and not of a newer version. -EIO: it is not. */
int schema_check_owner(sqlite3 *db, const char *path, struct err *err);

/* Gives the store another random name. */
int schema_rename_instance(sqlite3 *db, const char *path, struct err *err);

#endif
