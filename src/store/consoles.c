/* consoles.c: stores and reads console output. Capturing it is daemon/threads/consoles.c's. */
#include "store/consoles.h"

#include "store/internal.h"

#include <errno.h>
#include <string.h>

/* Used rarely, so the statement is prepared each time. */
static sqlite3_stmt *prepared(struct store *s, const char *sql, uint64_t action)
{
    sqlite3_stmt *st = NULL;

    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
        return NULL;
    if (sqlite3_bind_int64(st, 1, (int64_t)action) == SQLITE_OK)
        return st;
    (void)sqlite3_finalize(st);
    return NULL;
}

int store_put_console(struct store *s, const struct console_record *r, struct err *err)
{
    int code = store_check_transaction(s, err);

    if (code < 0)
        return code;
    sqlite3_stmt *st =
        prepared(s,
                 "INSERT INTO consoles (action, host, time, why, data) VALUES (?, ?, ?, ?, ?)"
                 " ON CONFLICT (action) DO UPDATE SET host = excluded.host, time = excluded.time,"
                 " why = excluded.why, data = excluded.data",
                 r->action);
    int rc = SQLITE_ERROR;

    if (st && sqlite3_bind_text(st, 2, r->host, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_int64(st, 3, r->time) == SQLITE_OK &&
        sqlite3_bind_text(st, 4, r->why, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_blob64(st, 5, r->n > 0 ? r->data : "", r->n, SQLITE_STATIC) == SQLITE_OK)
        rc = sqlite3_step(st);
    (void)sqlite3_finalize(st);
    return rc == SQLITE_DONE ? 0 : store_failed(s, "store console output", err);
}

/* -EINVAL or -ENOENT: why the record is missing. Kinds are stored as words. */
static int say_nothing_kept(struct store *s, uint64_t action, struct err *err)
{
    sqlite3_stmt *st = prepared(s, "SELECT kind FROM actions WHERE id = ?", action);
    int rc = st ? sqlite3_step(st) : SQLITE_ERROR;
    const char *kind = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
    int r;

    if (rc == SQLITE_DONE)
        r = err_set(err, -EINVAL, "there is no action %llu; `ballast history` lists those that have ended",
                    (unsigned long long)action);
    else if (rc != SQLITE_ROW)
        r = store_failed(s, "read console output", err);
    else if (kind && strcmp(kind, action_kind_name(ACTION_POWER_ON)) != 0)
        r = err_set(err, -ENOENT,
                    "action %llu is a %s: console output exists only for a wake (power_on) of a host with "
                    "ipmi.console set",
                    (unsigned long long)action, kind);
    else
        r = err_set(
            err, -ENOENT,
            "no console output of action %llu: it is captured only while a host with ipmi.console set "
            "wakes",
            (unsigned long long)action);
    (void)sqlite3_finalize(st);
    return r;
}

int store_get_console(struct store *s, uint64_t action, struct arena *a, struct console_record *ret,
                      struct err *err)
{
    sqlite3_stmt *st = prepared(s, "SELECT host, time, why, data FROM consoles WHERE action = ?", action);
    int rc = st ? sqlite3_step(st) : SQLITE_ERROR;
    int r = 0;

    if (rc == SQLITE_ROW) {
        size_t n = (size_t)sqlite3_column_bytes(st, 3);
        const void *data = sqlite3_column_blob(st, 3);
        char *copy = arena_array(a, char, n ? n : 1);

        if (n > 0 && data)
            memcpy(copy, data, n);
        *ret = (struct console_record){.action = action,
                                       .host = store_column_text(st, 0, a),
                                       .time = sqlite3_column_int64(st, 1),
                                       .why = store_column_text(st, 2, a),
                                       .data = copy,
                                       .n = data ? n : 0};
    } else if (rc == SQLITE_DONE) {
        r = say_nothing_kept(s, action, err);
    } else {
        r = store_failed(s, "read console output", err);
    }
    (void)sqlite3_finalize(st);
    return r;
}

bool store_has_console(struct store *s, uint64_t action)
{
    sqlite3_stmt *st = prepared(s, "SELECT 1 FROM consoles WHERE action = ?", action);
    bool there = st && sqlite3_step(st) == SQLITE_ROW;

    (void)sqlite3_finalize(st);
    return there;
}
