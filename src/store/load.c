/* load.c: the store port's reading side. Writing is sqlite.c's. */
#include "store/compress.h"
#include "store/events.h"
#include "store/internal.h"
#include "store/rows.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A query of rows of one table. */
struct query {
    const struct sql_table *table;
    size_t record_size;
    const char *tail; /* " WHERE ... ORDER BY ..." with at most one parameter */
};

static int prepare_query(const struct store *s, const struct query *q, int64_t of, sqlite3_stmt **ret,
                         struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;

    strbuf_puts(&sql, "SELECT ");
    row_column_names(q->table, &sql);
    strbuf_printf(&sql, " FROM %s%s", q->table->name, q->tail);
    int rc = sqlite3_prepare_v2(s->db, sql.text, -1, ret, NULL);

    if (rc == SQLITE_OK && strchr(q->tail, '?'))
        rc = sqlite3_bind_int64(*ret, 1, of);
    return rc == SQLITE_OK ? 0 : store_failed(s, "be read", err);
}

int store_read_rows(const struct store *s, sqlite3_stmt *st, const struct sql_table *table, size_t size,
                    struct arena *a, void *ret, size_t *ret_n, struct err *err)
{
    char *rows = NULL;
    size_t n = 0, cap = 0;
    int rc, r;

    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        rows = arena_grow(a, rows, n, &cap, size);
        if ((r = row_read(st, table, a, rows + n * size, err)) < 0)
            return r;
        n++;
    }
    if (rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    memcpy(ret, &rows, sizeof rows);
    *ret_n = n;
    return 0;
}

static int read_rows(const struct store *s, const struct query *q, int64_t of, struct arena *a, void *ret,
                     size_t *ret_n, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = prepare_query(s, q, of, &st, err);

    return r < 0 ? r : store_read_rows(s, st, q->table, q->record_size, a, ret, ret_n, err);
}

/* The records that a restart reads, by kind, and their place in struct stored. */
struct part {
    struct query query;
    int64_t since;
    void *items; /* a pointer to records */
    size_t *n;
};

int store_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a, struct stored *ret,
               struct err *err)
{
    const struct part parts[] = {
        {{&table_actions, sizeof *ret->actions, " WHERE ended = 0 OR ended >= ? ORDER BY id"},
         since,
         &ret->actions,
         &ret->n_actions},
        {{&table_migrations, sizeof *ret->migrations, " WHERE ended >= ? ORDER BY ended, id"},
         since,
         &ret->migrations,
         &ret->n_migrations},
        {{&table_samples, sizeof *ret->samples, " WHERE time >= ? ORDER BY vm, time"},
         samples_since,
         &ret->samples,
         &ret->n_samples},
        {{&table_energy, sizeof *ret->energy, " WHERE time >= ? ORDER BY time, host"},
         samples_since - ENERGY_HOUR_S,
         &ret->energy,
         &ret->n_energy},
        {{&table_rates, sizeof *ret->rates, " ORDER BY from_host, to_host"}, 0, &ret->rates, &ret->n_rates},
        {{&table_dirties, sizeof *ret->dirties, " ORDER BY vm"}, 0, &ret->dirties, &ret->n_dirties},
        {{&table_settings, sizeof *ret->settings, " ORDER BY host, pool"},
         0,
         &ret->settings,
         &ret->n_settings},
        {{&table_hosts, sizeof *ret->hosts, " ORDER BY host"}, 0, &ret->hosts, &ret->n_hosts},
        {{&table_failures, sizeof *ret->failures, " ORDER BY vm, host"}, 0, &ret->failures, &ret->n_failures},
        {{&table_patterns, sizeof *ret->patterns, " ORDER BY time"}, 0, &ret->patterns, &ret->n_patterns},
        {{&table_notes, sizeof *ret->notes, " WHERE key NOT GLOB '" NOTES_OWN "' ORDER BY key"},
         0,
         &ret->notes,
         &ret->n_notes},
    };
    int r;

    *ret = (struct stored){0};
    if ((r = store_instance(s, a, &ret->instance, err)) < 0 || (r = store_newest(s, &ret->newest, err)) < 0 ||
        (r = store_read_number(s, "SELECT seq FROM sqlite_sequence WHERE name = 'actions'",
                               (int64_t *)&ret->last_action, err)) < 0 ||
        (r = store_read_number(s, "SELECT seq FROM sqlite_sequence WHERE name = 'passes'",
                               (int64_t *)&ret->last_pass, err)) < 0)
        return r;
    for (size_t i = 0; r == 0 && i < sizeof parts / sizeof *parts; i++)
        r = read_rows(s, &parts[i].query, parts[i].since, a, parts[i].items, parts[i].n, err);
    return r;
}

static int read_text(const struct store *s, sqlite3_stmt *st, int column, struct arena *a, const char **ret,
                     struct err *err)
{
    int64_t text_len = sqlite3_column_int64(st, column);
    const void *data = sqlite3_column_blob(st, column + 1);

    *ret = NULL;
    if (!data)
        return 0;
    if (text_len >= 0 &&
        compress_restore(data, (size_t)sqlite3_column_bytes(st, column + 1), (size_t)text_len, a, ret) == 0)
        return 0;
    return err_set(err, -EIO, "the store %s has a damaged pass", s->path);
}

/* Reads the texts of a pass. */
static int read_texts(const struct store *s, struct pass_record *pass, struct arena *a, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r;

    if (sqlite3_prepare_v2(s->db, "SELECT snapshot_size, snapshot, plan_size, plan FROM passes WHERE id = ?",
                           -1, &st, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(st, 1, (sqlite3_int64)pass->id) != SQLITE_OK || sqlite3_step(st) != SQLITE_ROW)
        return store_failed(s, "be read", err);
    r = read_text(s, st, 0, a, &pass->snapshot, err);
    return r < 0 ? r : read_text(s, st, 2, a, &pass->plan, err);
}

int store_list(struct store *s, enum record_query query, int64_t of, struct arena *a, struct records *ret,
               struct err *err)
{
    static const struct query queries[record_query_count] = {
        [QUERY_SAMPLES] = {&table_samples, sizeof(struct sample_record),
                           " WHERE substr(vm, 1, 1) <> char(10) ORDER BY time, vm"},
        [QUERY_PASSES] = {&table_passes, sizeof(struct pass_record), " ORDER BY id DESC LIMIT ?"},
        [QUERY_PASS] = {&table_passes, sizeof(struct pass_record), " WHERE id = ?"},
        [QUERY_ENERGY] = {&table_energy, sizeof(struct energy_record),
                          " WHERE time + length_s > ? AND host = '' ORDER BY time"},
        [QUERY_HOST_ENERGY] = {&table_energy_sums, sizeof(struct energy_record),
                               " WHERE time + length_s > ? AND host <> '' GROUP BY host ORDER BY host"},
    };
    struct records found;
    int r = read_rows(s, &queries[query], of, a, &found.any, &found.n, err);

    if (r == 0 && query == QUERY_PASS)
        r = found.n == 0 ? err_set(err, -ENOENT, "there is no pass %" PRId64 " in the store", of)
                         : read_texts(s, found.passes, a, err);
    if (r == 0)
        *ret = found;
    return r;
}
