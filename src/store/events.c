/* events.c: stores, lists and prunes events. Sending them is daemon/mqtt/mqtt_feed.c's. */
#include "store/events.h"

#include "store/internal.h"
#include "store/rows.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>
#include <time.h>

int store_put_event(struct store *s, const struct event_record *event, uint64_t *ret_id, struct err *err)
{
    static const char doing[] = "keep an event";
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_check_transaction(s, err);

    if (r < 0 || (r = store_prepare_one(
                      s,
                      "INSERT INTO events (time, kind, type, severity, subject, vm, host, to_host, data)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      &st, doing, err)) < 0)
        return r;
    if (row_bind(st, &table_new_events, event) != SQLITE_OK || sqlite3_step(st) != SQLITE_DONE)
        return store_failed(s, doing, err);
    *ret_id = (uint64_t)sqlite3_last_insert_rowid(s->db);
    return 0;
}

/* What happens to hosts has several kinds. An action without a VM is a host's own: standby, wake,
 * maintenance; of its states those count that say what was begun, and how it ended. */
#define ABOUT_HOSTS                                                                                          \
    " AND (kind IN ('host', 'host_lost', 'host_back', 'wake_failed')"                                        \
    " OR (kind = 'action' AND vm IS NULL"                                                                    \
    " AND type IN ('action.running', 'action.done', 'action.failed', 'action.cancelled')))"

/* The rows of a query. The subqueries make SQLite use the indexes of VMs and hosts, whatever the order. */
static void put_where(const struct event_query *q, struct strbuf *sql)
{
    strbuf_puts(sql, " FROM events WHERE id > :after AND time >= :since");
    if (q->kind)
        strbuf_puts(sql, strcmp(q->kind, "host") == 0 ? ABOUT_HOSTS : " AND kind = :kind");
    if (q->vm)
        strbuf_puts(sql, " AND id IN (SELECT id FROM events WHERE vm = :vm)");
    if (q->host)
        strbuf_puts(sql, " AND id IN (SELECT id FROM events WHERE host = :host"
                         " UNION ALL SELECT id FROM events WHERE to_host = :host)");
}

static int prepare_query(const struct store *s, const struct event_query *q, const char *sql,
                         sqlite3_stmt **ret, struct err *err)
{
    int r = store_prepare_one(s, sql, ret, "be read", err);

    if (r < 0)
        return r;
    if (store_bind_number(*ret, ":after", (int64_t)q->after) != SQLITE_OK ||
        store_bind_number(*ret, ":since", q->since) != SQLITE_OK ||
        store_bind_number(*ret, ":limit", q->limit) != SQLITE_OK ||
        store_bind_text(*ret, ":kind", q->kind) != SQLITE_OK ||
        store_bind_text(*ret, ":vm", q->vm) != SQLITE_OK ||
        store_bind_text(*ret, ":host", q->host) != SQLITE_OK)
        return store_failed(s, "be read", err);
    return 0;
}

int store_list_events(struct store *s, const struct event_query *q, struct arena *a,
                      struct event_record **ret, size_t *ret_n, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r;

    strbuf_puts(&sql, q->newest ? "SELECT * FROM (SELECT " : "SELECT ");
    row_column_names(&table_events, &sql);
    put_where(q, &sql);
    strbuf_puts(&sql, q->newest ? " ORDER BY id DESC LIMIT :limit) ORDER BY 1" : " ORDER BY id LIMIT :limit");
    r = prepare_query(s, q, sql.text, &st, err);
    return r < 0 ? r : store_read_rows(s, st, &table_events, sizeof **ret, a, ret, ret_n, err);
}

int store_count_events(struct store *s, const struct event_query *q, uint64_t *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r;

    strbuf_puts(&sql, "SELECT count(*)");
    put_where(q, &sql);
    if ((r = prepare_query(s, q, sql.text, &st, err)) < 0)
        return r;
    return store_read_count(s, st, ret, err);
}

int store_event_range(struct store *s, uint64_t *ret_first, uint64_t *ret_last, struct err *err)
{
    int64_t first = 0, last = 0;
    int r = store_read_number(s, "SELECT seq FROM sqlite_sequence WHERE name = 'events'", &last, err);

    if (r < 0 || (r = store_read_number(s, "SELECT min(id) FROM events", &first, err)) < 0)
        return r;
    *ret_last = (uint64_t)last;
    *ret_first = first > 0 ? (uint64_t)first : *ret_last + 1;
    return 0;
}

int store_prune_events(struct store *s, instant_s before, uint64_t sent, uint64_t floor, struct err *err)
{
    static const char doing[] = "drop old events";
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_check_transaction(s, err);

    if (r < 0 || (r = store_prepare_one(s,
                                        "DELETE FROM events WHERE id <= ?3 OR id IN"
                                        " (SELECT id FROM events WHERE time < ?1 AND id <= ?2 ORDER BY id"
                                        " LIMIT (SELECT count(*) / 10 + 1 FROM events))",
                                        &st, doing, err)) < 0)
        return r;
    if (sqlite3_bind_int64(st, 1, before) != SQLITE_OK ||
        sqlite3_bind_int64(st, 2, sent > INT64_MAX ? INT64_MAX : (sqlite3_int64)sent) != SQLITE_OK ||
        sqlite3_bind_int64(st, 3, (sqlite3_int64)floor) != SQLITE_OK || sqlite3_step(st) != SQLITE_DONE)
        return store_failed(s, doing, err);
    return 0;
}

int store_read_text(const struct store *s, const char *sql, const char *key, struct arena *a,
                    const char **ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_prepare_one(s, sql, &st, "be read", err);

    if (r < 0)
        return r;
    int rc = store_bind_text(st, ":key", key);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    *ret = rc == SQLITE_ROW ? store_column_text(st, 0, a) : NULL;
    return 0;
}

int store_get_note(struct store *s, const char *key, struct arena *a, const char **ret, struct err *err)
{
    return store_read_text(s, "SELECT value FROM notes WHERE key = :key", key, a, ret, err);
}

int store_put_note(struct store *s, const char *key, const char *value, struct err *err)
{
    int r = store_begin(s, err);

    if (r < 0)
        return r;
    char *sql = sqlite3_mprintf("INSERT OR REPLACE INTO notes (key, value) VALUES (%Q, %Q)", key, value);
    int rc = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (rc == SQLITE_OK)
        return store_commit(s, err);
    r = store_failed(s, "keep a note", err);
    store_sqlite.rollback(s);
    return r;
}

int store_instance(struct store *s, struct arena *a, const char **ret, struct err *err)
{
    int r = store_read_text(s, "SELECT name FROM instance", NULL, a, ret, err);

    return r < 0 || *ret ? r : err_set(err, -EIO, "the store %s has no name", s->path);
}

int store_remember_command(struct store *s, const char *id, int64_t keep_s, int64_t most, struct err *err)
{
    /* begins again at a reboot: what is ahead of it is of the time before */
    const long long now = clock_us(CLOCK_BOOTTIME) / 1000000;
    int r = store_begin(s, err);

    if (r < 0)
        return r;
    char *sql = sqlite3_mprintf("UPDATE notes SET value = %lld WHERE key GLOB '" NOTE_COMMAND "*'"
                                " AND CAST(value AS INTEGER) > %lld;"
                                "DELETE FROM notes WHERE key GLOB '" NOTE_COMMAND "*'"
                                " AND CAST(value AS INTEGER) < %lld;"
                                "INSERT INTO notes (key, value) SELECT '" NOTE_COMMAND "' || %Q, %lld WHERE"
                                " (SELECT count(*) FROM notes WHERE key GLOB '" NOTE_COMMAND "*') < %lld",
                                now, now, now - keep_s, id, now, (long long)most);
    int rc = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (rc == SQLITE_OK && sqlite3_changes(s->db) > 0)
        return store_commit(s, err);
    if (rc == SQLITE_CONSTRAINT)
        r = err_set(err, -EALREADY, "a command with the id \"%s\" came before: not carried out again", id);
    else if (rc == SQLITE_OK)
        r = err_set(err, -EUSERS,
                    "not carried out: %lld commands have come within %lld s, and another id "
                    "cannot be remembered",
                    (long long)most, (long long)keep_s);
    else
        r = store_failed(s, "keep a command", err);
    store_sqlite.rollback(s);
    return r;
}

int store_newest(struct store *s, instant_s *ret, struct err *err)
{
    return store_read_number(s,
                             "SELECT max(coalesce((SELECT max(time) FROM events), 0),"
                             " coalesce((SELECT max(time) FROM looks), 0),"
                             " coalesce((SELECT time FROM passes ORDER BY id DESC LIMIT 1), 0))",
                             ret, err);
}

int store_host_ids(struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err)
{
    static const struct sql_column id = {"host", COLUMN_TEXT, 0};
    static const struct sql_table ids = {"hosts", &id, 1};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_prepare_one(s, "SELECT host FROM hosts ORDER BY host", &st, "be read", err);

    return r < 0 ? r : store_read_rows(s, st, &ids, sizeof **ret, a, ret, ret_n, err);
}
