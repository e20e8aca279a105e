/* passes.c: lists the passes that are kept, and reads the snapshot of one. */
#include "store/passes.h"

#include "store/compress.h"
#include "store/internal.h"
#include "store/rows.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int prepare_list(const struct store *s, const struct pass_query *q, const char *columns,
                        sqlite3_stmt **ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    int r;

    strbuf_printf(&sql, "SELECT %s FROM passes WHERE time >= :since AND (:before = 0 OR id < :before)",
                  columns);
    if (q->limit > 0)
        strbuf_puts(&sql, " ORDER BY id DESC LIMIT :limit");
    if ((r = store_prepare_one(s, sql.text, ret, "be read", err)) < 0)
        return r;
    return store_bind_number(*ret, ":since", q->since) == SQLITE_OK &&
                   store_bind_number(*ret, ":before", (int64_t)q->before) == SQLITE_OK &&
                   store_bind_number(*ret, ":limit", q->limit) == SQLITE_OK
               ? 0
               : store_failed(s, "be read", err);
}

static int count_passes(const struct store *s, const struct pass_query *q, uint64_t *ret, struct err *err)
{
    const struct pass_query all = {.since = q->since, .before = q->before};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = prepare_list(s, &all, "count(*)", &st, err);

    return r < 0 ? r : store_read_count(s, st, ret, err);
}

int store_list_passes(struct store *s, const struct pass_query *q, struct arena *a, struct kept_pass **ret,
                      size_t *ret_n, uint64_t *ret_more, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf columns = STRBUF_EMPTY;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    struct kept_pass *list = NULL;
    size_t n = 0, cap = 0;
    uint64_t all = 0;
    int rc, r;

    row_column_names(&table_passes, &columns);
    strbuf_puts(&columns, ", snapshot_size IS NOT NULL");
    if ((r = prepare_list(s, q, columns.text, &st, err)) < 0)
        return r;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        list = arena_grow(a, list, n, &cap, sizeof *list);
        list[n] = (struct kept_pass){0};
        if ((r = row_read(st, &table_passes, a, &list[n].is, err)) < 0)
            return r;
        list[n++].has_snapshot = sqlite3_column_int(st, table_passes.n) != 0;
    }
    if (rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    if (n == q->limit && (r = count_passes(s, q, &all, err)) < 0)
        return r;
    *ret = list;
    *ret_n = n;
    *ret_more = all > n ? all - n : 0;
    return 0;
}

/* ---- one pass ---------------------------------------------------------------------------------- */

static int copy_snapshot(const struct store *s, sqlite3_stmt *st, struct stored_snapshot *ret,
                         struct err *err)
{
    const void *data = sqlite3_column_blob(st, 1);
    const char *trigger = (const char *)sqlite3_column_text(st, 3);
    const int64_t text_len = sqlite3_column_int64(st, 0);

    *ret = (struct stored_snapshot){.held_back = (unsigned)sqlite3_column_int(st, 2)};
    (void)snprintf(ret->trigger, sizeof ret->trigger, "%s", trigger ? trigger : "");
    if (!data)
        return 0;
    if (text_len < 0)
        return err_set(err, -EIO, "the store %s has a damaged pass", s->path);
    ret->len = (size_t)sqlite3_column_bytes(st, 1);
    ret->text_len = (size_t)text_len;
    ret->data = xcalloc(1, ret->len);
    memcpy(ret->data, data, ret->len);
    return 0;
}

int store_read_snapshot(struct store *s, uint64_t pass, struct stored_snapshot *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r =
        store_prepare_one(s, "SELECT snapshot_size, snapshot, held_back, trigger FROM passes WHERE id = :id",
                          &st, "be read", err);

    if (r < 0)
        return r;
    if (store_bind_number(st, ":id", (int64_t)pass) != SQLITE_OK)
        return store_failed(s, "be read", err);
    switch (sqlite3_step(st)) {
    case SQLITE_ROW:
        return copy_snapshot(s, st, ret, err);
    case SQLITE_DONE:
        return err_set(err, -ENOENT, "there is no pass %" PRIu64 " in the store", pass);
    default:
        return store_failed(s, "be read", err);
    }
}

void store_snapshot_release(struct stored_snapshot *p)
{
    free(p->data);
    *p = (struct stored_snapshot){0};
}

int store_snapshot_text(const struct stored_snapshot *p, struct arena *a, const char **ret)
{
    return compress_restore(p->data, p->len, p->text_len, a, ret);
}
