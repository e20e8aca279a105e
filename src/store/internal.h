/* internal.h: the open store, for the files of store only. */
#ifndef BALLAST_STORE_INTERNAL_H
#define BALLAST_STORE_INTERNAL_H

#include "store/schema.h"
#include "store/sqlite.h"

#include <ballast/arena.h>

#include <sqlite3.h>
#include <sys/types.h>

/* Statements that are prepared once, when the store is opened. */
enum statement {
    ST_BEGIN,
    ST_COUNT_WRITE,
    ST_COMMIT,
    ST_SAVEPOINT,
    ST_RELEASE,
    ST_TRIM_PASSES,
    ST_FORGET_SETTING,
    ST_FORGET_FAILURE,
    ST_FORGET_NOTE,
    ST_PRUNE_SAMPLES,
    ST_PRUNE_ACTIONS,
    ST_PRUNE_MIGRATIONS,
    ST_PRUNE_RATES,
    ST_PRUNE_DIRTIES,
    ST_PRUNE_HOSTS,
    ST_PRUNE_PASSES,
    ST_PRUNE_ENERGY,
    ST_ROLL_ENERGY,
    ST_DROP_ROLLED,
    ST_PRUNE_PATTERNS,
    ST_COUNT
};

enum store_file { FILE_DATABASE, FILE_LOG, FILE_INDEX, FILE_LOCK, store_file_count };

struct store {
    sqlite3 *db;
    char *path;  /* of the database */
    int lock_fd; /* holds the lock while open; -1: no service has the store, its files are not watched */
    struct watched_file {
        char *path;
        dev_t device; /* of the file that is open ... */
        ino_t inode;  /* ... 0: it did not exist */
        off_t size;   /* the most that it had: of database and log */
    } files[store_file_count];
    char name[24];        /* of the instance: who wrote the lock's file ... */
    int64_t writes;       /* ... after so many transactions (recognise.c) */
    int64_t passes_bytes; /* limit of the passes' size */
    int64_t limit_bytes;  /* of the store; 0: none */
    bool upgraded;        /* when it was opened, from an older version */
    instant_s behind;     /* time of the first look of a clock that was set back far; 0: it was not */
    bool in_transaction;  /* between begin() and commit() */
    sqlite3_stmt *st[ST_COUNT];
    sqlite3_stmt *put[record_kind_count];
    struct series_writer *series; /* series_write.h; NULL: the tables say it */
};

/* For CLEANUP(). */
static inline void finalizep(sqlite3_stmt **st)
{
    (void)sqlite3_finalize(*st);
}

/* The column's text, in the arena; NULL: it has none. */
static inline const char *store_column_text(sqlite3_stmt *st, int column, struct arena *a)
{
    return arena_strdup(a, (const char *)sqlite3_column_text(st, column));
}

/* Formats "the store PATH could not DOING: ..." with the database's last error; -EIO. */
int store_failed(const struct store *s, const char *doing, struct err *err);

/* Before each write. A full disk can make SQLite roll back a whole transaction. -EIO then: later puts of the
 * same transaction must not be stored alone. Outside a transaction as store_check_files(). */
int store_check_transaction(struct store *s, struct err *err);

/* store_ops' begin() and commit(). */
int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);

/* files.c. Watches the files that are open now. */
void store_watch_files(struct store *s);
/* -EIO: a file was deleted, replaced or shortened, so that what is written now would be lost. Where the log
 * or its index was deleted, the open one still has everything: outside a transaction it is written into the
 * database, and the service goes on with new ones. */
int store_check_files(struct store *s, struct err *err);
/* The database or the log, of which a part is gone: what is left of the log must not be written into the
 * database, where it would be mixed with older pages. NULL: neither. */
const struct watched_file *store_find_shortened(struct store *s);

/* recognise.c. Pauses the service where the store is a copy or older than the one that a service had open
 * here last, which `former` tells: what it left in the lock's file. Watches from then on. */
int store_recognise(struct store *s, const char *former, struct err *err);
/* After a commit, in the lock's file: the next start must find at least so many transactions. */
void store_write_witness(const struct store *s);

/* Closes the connection, and opens another one. */
int store_reconnect(struct store *s, struct err *err);

/* Another connection to a store that a service may have open. *ret is closed by the caller, after an error,
 * too. */
int store_connect(const char *path, sqlite3 **ret, struct err *err);

/* Prepares all of s->st. */
int store_prepare(struct store *s, struct err *err);

/* Binds a parameter by its name (":vm"); one that the statement does not have is left out. Texts are borrowed
 * until the statement is finalized; NULL is NULL. An SQLite code. */
int store_bind_text(sqlite3_stmt *st, const char *name, const char *text);
int store_bind_number(sqlite3_stmt *st, const char *name, int64_t number);

/* `doing` is said in the error. The caller finalizes *ret. */
int store_prepare_one(const struct store *s, const char *sql, sqlite3_stmt **ret, const char *doing,
                      struct err *err);

/* The one number of a statement without parameters; 0: NULL or no row. */
int store_read_number(const struct store *s, const char *sql, int64_t *ret, struct err *err);

/* The one text of a statement whose parameter, if any, is :key; NULL: NULL or no row. */
int store_read_text(const struct store *s, const char *sql, const char *key, struct arena *a,
                    const char **ret, struct err *err);

/* Steps a `SELECT count(*)` whose parameters are bound. */
int store_read_count(const struct store *s, sqlite3_stmt *st, uint64_t *ret, struct err *err);

/* load.c. Steps a statement whose parameters are bound, and which begins with the columns of the table. *ret
 * (a pointer to records of this size) are the n rows, in the arena. */
struct sql_table;
int store_read_rows(const struct store *s, sqlite3_stmt *st, const struct sql_table *table, size_t size,
                    struct arena *a, void *ret, size_t *ret_n, struct err *err);

/* load.c: the reading half of store_ops. */
int store_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a, struct stored *ret,
               struct err *err);
int store_list(struct store *s, enum record_query query, int64_t of, struct arena *a, struct records *ret,
               struct err *err);

#endif
