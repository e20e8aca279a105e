/* schema.h: the tables, and how a database of an older version becomes one of this version. */
#ifndef BALLAST_STORE_SCHEMA_H
#define BALLAST_STORE_SCHEMA_H

#include <ballast/err.h>

#include <sqlite3.h>

/* Brings the database to this version's tables, in one transaction. -EIO for one of a newer version, or a
 * file that is a database of something else. */
int schema_migrate(sqlite3 *db, const char *path, struct err *err);

#endif
