/* history.c: queries for the service's replies: actions that have ended, VMs and hosts that are gone. */
#include "store/history.h"

#include "store/internal.h"
#include "store/rows.h"

#include "base/cleanup.h"

#include <errno.h>

/* ---- actions --------------------------------------------------------------------------------- */

static void put_where(const struct action_query *q, struct strbuf *sql)
{
    strbuf_puts(sql, " FROM actions WHERE ended > 0 AND ended >= :since");
    strbuf_puts(sql, q->state == action_state_count ? " AND state <> 'expired'" : " AND state = :state");
    if (q->vm)
        strbuf_puts(sql, " AND vm = :vm");
    if (q->host)
        strbuf_puts(sql, " AND :host IN (from_host, to_host, host)");
    if (q->before > 0)
        strbuf_puts(sql, " AND (ended, id) < (SELECT ended, id FROM actions WHERE id = :before)");
}

static int prepare_actions(const struct store *s, const struct action_query *q, const char *sql,
                           sqlite3_stmt **ret, struct err *err)
{
    const char *state = q->state == action_state_count ? NULL : action_state_name(q->state);
    int r = store_prepare_one(s, sql, ret, "be read", err);

    if (r < 0)
        return r;
    if (store_bind_number(*ret, ":since", q->since) != SQLITE_OK ||
        store_bind_number(*ret, ":limit", q->limit) != SQLITE_OK ||
        store_bind_number(*ret, ":before", (int64_t)q->before) != SQLITE_OK ||
        store_bind_text(*ret, ":state", state) != SQLITE_OK ||
        store_bind_text(*ret, ":vm", q->vm) != SQLITE_OK ||
        store_bind_text(*ret, ":host", q->host) != SQLITE_OK)
        return store_failed(s, "be read", err);
    return 0;
}

static int count_actions(const struct store *s, const struct action_query *q, uint64_t *ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r;

    strbuf_puts(&sql, "SELECT count(*)");
    put_where(q, &sql);
    if ((r = prepare_actions(s, q, sql.text, &st, err)) < 0)
        return r;
    return store_read_count(s, st, ret, err);
}

int store_list_actions(struct store *s, const struct action_query *q, struct arena *a,
                       struct action_record **ret, size_t *ret_n, uint64_t *ret_more, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    uint64_t all = 0;
    int r;

    strbuf_puts(&sql, "SELECT ");
    row_column_names(&table_actions, &sql);
    put_where(q, &sql);
    strbuf_puts(&sql, " ORDER BY ended DESC, id DESC LIMIT :limit");
    if ((r = prepare_actions(s, q, sql.text, &st, err)) < 0 ||
        (r = store_read_rows(s, st, &table_actions, sizeof **ret, a, ret, ret_n, err)) < 0 ||
        (*ret_n == q->limit && (r = count_actions(s, q, &all, err)) < 0))
        return r;
    *ret_more = all > *ret_n ? all - *ret_n : 0;
    return 0;
}

int store_each_end(struct store *s, instant_s since, void (*each)(void *ctx, const struct action_record *r),
                   void *ctx, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct action_query q = {.since = since, .state = action_state_count};
    int rc, r;

    strbuf_puts(&sql, "SELECT ");
    row_column_names(&table_action_ends, &sql);
    put_where(&q, &sql);
    strbuf_puts(&sql, " ORDER BY ended, id");
    if ((r = prepare_actions(s, &q, sql.text, &st, err)) < 0)
        return r;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct action_record record = {0};

        if ((r = row_read(st, &table_action_ends, &a, &record, err)) < 0)
            return r;
        each(ctx, &record);
        arena_reset(&a);
    }
    return rc == SQLITE_DONE ? 0 : store_failed(s, "be read", err);
}

/* ---- faults ---------------------------------------------------------------------------------- */

int store_list_faults(struct store *s, struct arena *a, struct fault_event **ret, size_t *ret_n,
                      instant_s *ret_from, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    CLEANUP(finalizep) sqlite3_stmt *oldest = NULL;
    int r;

    if ((r = store_prepare_one(
             s,
             "SELECT time, kind = 'fault_cleared', json_extract(data, '$.code'), vm, host FROM events"
             " WHERE kind IN ('fault', 'fault_cleared') ORDER BY id",
             &st, "be read", err)) < 0 ||
        (r = store_read_rows(s, st, &table_faults, sizeof **ret, a, ret, ret_n, err)) < 0 ||
        (r = store_prepare_one(s, "SELECT id, time FROM events ORDER BY id LIMIT 1", &oldest, "be read",
                               err)) < 0)
        return r;
    int rc = sqlite3_step(oldest);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    *ret_from = rc == SQLITE_ROW && sqlite3_column_int64(oldest, 0) > 1 ? sqlite3_column_int64(oldest, 1) : 0;
    return 0;
}

/* ---- VMs and hosts that are gone ------------------------------------------------------------- */

/* :word is an id in the first two parts, a name in the others; :after: the last event that is too old. */
static const char *const subject_sql[] = {
    [STORE_VM] = "SELECT vm FROM events WHERE vm = :word"
                 " UNION SELECT vm FROM actions WHERE vm = :word",
    [STORE_HOST] = "SELECT host FROM events WHERE host = :word"
                   " UNION SELECT to_host FROM events WHERE to_host = :word"
                   " UNION SELECT :word FROM actions WHERE :word IN (from_host, to_host, host)",
};

static const char *const name_sql[] = {
    [STORE_VM] = "SELECT vm FROM events WHERE id > :after AND vm IS NOT NULL AND"
                 " :word IN (json_extract(data, '$.action.vm_name'), json_extract(data, '$.vm_name'))"
                 " GROUP BY vm LIMIT 2",
    [STORE_HOST] = "SELECT host FROM events WHERE id > :after AND host IS NOT NULL AND"
                   " :word IN (json_extract(data, '$.action.from_name'),"
                   " json_extract(data, '$.action.host_name'), json_extract(data, '$.host_name'))"
                   " UNION SELECT to_host FROM events WHERE id > :after AND to_host IS NOT NULL AND"
                   " :word = json_extract(data, '$.action.to_name') LIMIT 2",
};

/* Up to two ids; n: how many. */
static int find_ids(const struct store *s, const char *sql, const char *word, int64_t after, struct arena *a,
                    const char *ret[2], size_t *ret_n, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_prepare_one(s, sql, &st, "be read", err);
    int rc;

    if (r < 0)
        return r;
    if (store_bind_text(st, ":word", word) != SQLITE_OK ||
        store_bind_number(st, ":after", after) != SQLITE_OK)
        return store_failed(s, "be read", err);
    *ret_n = 0;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && *ret_n < 2)
        ret[(*ret_n)++] = store_column_text(st, 0, a);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : store_failed(s, "be read", err);
}

int store_find_subject(struct store *s, enum store_subject what, const char *word, struct arena *a,
                       const char **ret, struct err *err)
{
    const char *ids[2];
    int64_t newest = 0;
    size_t n = 0;
    int r = find_ids(s, subject_sql[what], word, 0, a, ids, &n, err);

    if (r == 0 && n == 0 &&
        (r = store_read_number(s, "SELECT coalesce(max(id), 0) FROM events", &newest, err)) == 0)
        r = find_ids(s, name_sql[what], word, newest - STORE_NAMES_AMONG, a, ids, &n, err);
    if (r < 0)
        return r;
    if (n == 0)
        return -ENOENT;
    if (n > 1)
        return err_set(err, -EINVAL, "several %s had the name \"%s\", expected an id, such as %s or %s",
                       what == STORE_VM ? "VMs" : "hosts", word, ids[0], ids[1]);
    *ret = ids[0];
    return 0;
}
