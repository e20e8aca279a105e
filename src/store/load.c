/* load.c: the store port's reading side. Writing is sqlite.c's. */
#include "store/compress.h"
#include "store/internal.h"
#include "store/rows.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void finalizep(sqlite3_stmt **st)
{
    (void)sqlite3_finalize(*st);
}

/* A question that has no other answers than rows of one table. */
struct query {
    const struct sql_table *table;
    size_t record_size;
    const char *tail;      /* " WHERE ... ORDER BY ..." */
    const int64_t *params; /* of the tail */
    int n_params;
};

/* The answer, in the arena. */
struct rows {
    void *items;
    size_t n;
};

static int prepare_query(const struct store *s, const struct query *q, sqlite3_stmt **ret, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = {0};

    strbuf_init(&sql, STRBUF_NO_LIMIT);
    strbuf_puts(&sql, "SELECT ");
    row_column_names(q->table, &sql);
    strbuf_printf(&sql, " FROM %s%s", q->table->name, q->tail);
    int rc = sqlite3_prepare_v2(s->db, sql.text, -1, ret, NULL);

    for (int i = 0; rc == SQLITE_OK && i < q->n_params; i++)
        rc = sqlite3_bind_int64(*ret, i + 1, q->params[i]);
    return rc == SQLITE_OK ? 0 : store_failed(s, "be read", err);
}

static int read_rows(const struct store *s, const struct query *q, struct arena *a, struct rows *ret,
                     struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    char *rows = NULL;
    size_t n = 0, cap = 0;
    int rc;
    int r = prepare_query(s, q, &st, err);

    if (r < 0)
        return r;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        rows = arena_grow(a, rows, n, &cap, q->record_size);
        if ((r = row_read(st, q->table, a, rows + n * q->record_size, err)) < 0)
            return r;
        n++;
    }
    if (rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    *ret = (struct rows){.items = rows, .n = n};
    return 0;
}

/* One value; 0 where there is no row. */
static int read_number(const struct store *s, const char *sql, uint64_t *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;

    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
        return store_failed(s, "be read", err);
    int rc = sqlite3_step(st);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    *ret = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
    return 0;
}

static int read_instance(const struct store *s, struct arena *a, const char **ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;

    if (sqlite3_prepare_v2(s->db, "SELECT name FROM instance", -1, &st, NULL) != SQLITE_OK ||
        sqlite3_step(st) != SQLITE_ROW)
        return store_failed(s, "read its name", err);
    *ret = arena_strdup(a, (const char *)sqlite3_column_text(st, 0));
    return 0;
}

static int read_notes(const struct store *s, struct arena *a, struct stored *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    size_t cap = 0;
    int rc;

    if (sqlite3_prepare_v2(s->db, "SELECT key, value FROM notes ORDER BY key", -1, &st, NULL) != SQLITE_OK)
        return store_failed(s, "be read", err);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        ret->notes = arena_grow(a, ret->notes, ret->n_notes, &cap, sizeof *ret->notes);
        ret->notes[ret->n_notes++] = (struct note){
            .key = arena_strdup(a, (const char *)sqlite3_column_text(st, 0)),
            .value = arena_strdup(a, (const char *)sqlite3_column_text(st, 1)),
        };
    }
    return rc == SQLITE_DONE ? 0 : store_failed(s, "be read", err);
}

static int load_all(const struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                    struct stored *ret, struct err *err)
{
    enum { ACTIONS, MIGRATIONS, SAMPLES, RATES, DIRTIES, SETTINGS, HOSTS, ENERGY, PATTERNS, KINDS };
    const int64_t energy_since = samples_since - ENERGY_HOUR_S;
    const struct query queries[KINDS] = {
        [ACTIONS] = {&table_actions, sizeof(struct action_record),
                     " WHERE ended = 0 OR ended >= ? ORDER BY id", &since, 1},
        [MIGRATIONS] = {&table_migrations, sizeof(struct migration_record),
                        " WHERE ended >= ? ORDER BY ended, id", &since, 1},
        [SAMPLES] = {&table_samples, sizeof(struct sample_record), " WHERE time >= ? ORDER BY vm, time",
                     &samples_since, 1},
        [RATES] = {&table_rates, sizeof(struct rate_record), " ORDER BY from_host, to_host", NULL, 0},
        [DIRTIES] = {&table_dirties, sizeof(struct dirty_record), " ORDER BY vm", NULL, 0},
        [SETTINGS] = {&table_settings, sizeof(struct setting_record), " ORDER BY host, pool", NULL, 0},
        [HOSTS] = {&table_hosts, sizeof(struct host_record), " ORDER BY host", NULL, 0},
        [ENERGY] = {&table_energy, sizeof(struct energy_record), " WHERE time >= ? ORDER BY time, host",
                    &energy_since, 1},
        [PATTERNS] = {&table_patterns, sizeof(struct pattern_record), " ORDER BY time", NULL, 0},
    };
    struct rows found[KINDS];
    int r;

    if ((r = read_instance(s, a, &ret->instance, err)) < 0 ||
        (r = read_number(s, "SELECT seq FROM sqlite_sequence WHERE name = 'actions'", &ret->last_action,
                         err)) < 0 ||
        (r = read_number(s, "SELECT seq FROM sqlite_sequence WHERE name = 'passes'", &ret->last_pass, err)) <
            0)
        return r;
    for (int i = 0; i < KINDS; i++) {
        if ((r = read_rows(s, &queries[i], a, &found[i], err)) < 0)
            return r;
    }
    ret->actions = found[ACTIONS].items;
    ret->n_actions = found[ACTIONS].n;
    ret->migrations = found[MIGRATIONS].items;
    ret->n_migrations = found[MIGRATIONS].n;
    ret->samples = found[SAMPLES].items;
    ret->n_samples = found[SAMPLES].n;
    ret->rates = found[RATES].items;
    ret->n_rates = found[RATES].n;
    ret->dirties = found[DIRTIES].items;
    ret->n_dirties = found[DIRTIES].n;
    ret->settings = found[SETTINGS].items;
    ret->n_settings = found[SETTINGS].n;
    ret->hosts = found[HOSTS].items;
    ret->n_hosts = found[HOSTS].n;
    ret->energy = found[ENERGY].items;
    ret->n_energy = found[ENERGY].n;
    ret->patterns = found[PATTERNS].items;
    ret->n_patterns = found[PATTERNS].n;
    return read_notes(s, a, ret, err);
}

int store_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a, struct stored *ret,
               struct err *err)
{
    struct stored all = {0};
    int r = load_all(s, since, samples_since, a, &all, err);

    if (r == 0)
        *ret = all;
    return r;
}

int store_list_ended(struct store *s, unsigned limit, struct arena *a, struct action_record **ret,
                     size_t *ret_n, struct err *err)
{
    const struct query q = {&table_actions, sizeof(struct action_record),
                            " WHERE ended > 0 AND state <> 'expired' ORDER BY ended DESC, id DESC LIMIT ?",
                            &(int64_t){limit}, 1};

    struct rows found;
    int r = read_rows(s, &q, a, &found, err);

    if (r < 0)
        return r;
    *ret = found.items;
    *ret_n = found.n;
    return 0;
}

int store_list_samples(struct store *s, struct arena *a, struct sample_record **ret, size_t *ret_n,
                       struct err *err)
{
    const struct query q = {&table_samples, sizeof(struct sample_record), " ORDER BY time, vm", NULL, 0};
    struct rows found;
    int r = read_rows(s, &q, a, &found, err);

    if (r < 0)
        return r;
    *ret = found.items;
    *ret_n = found.n;
    return 0;
}

int store_list_energy(struct store *s, instant_s since, bool of_hosts, struct arena *a,
                      struct energy_record **ret, size_t *ret_n, struct err *err)
{
    const struct query q = {of_hosts ? &table_energy_sums : &table_energy, sizeof(struct energy_record),
                            of_hosts ? " WHERE time + length_s > ? AND host <> '' GROUP BY host ORDER BY host"
                                     : " WHERE time + length_s > ? AND host = '' ORDER BY time",
                            &since, 1};
    struct rows found;
    int r = read_rows(s, &q, a, &found, err);

    if (r < 0)
        return r;
    *ret = found.items;
    *ret_n = found.n;
    return 0;
}

int store_list_passes(struct store *s, unsigned limit, struct arena *a, struct pass_record **ret,
                      size_t *ret_n, struct err *err)
{
    const struct query q = {&table_passes, sizeof(struct pass_record), " ORDER BY id DESC LIMIT ?",
                            &(int64_t){limit}, 1};

    struct rows found;
    int r = read_rows(s, &q, a, &found, err);

    if (r < 0)
        return r;
    *ret = found.items;
    *ret_n = found.n;
    return 0;
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

int store_get_pass(struct store *s, uint64_t id, struct arena *a, struct pass_record *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    const int64_t key = (int64_t)id;
    const struct query q = {&table_passes, sizeof(struct pass_record), " WHERE id = ?", &key, 1};
    struct rows rows;
    int r = read_rows(s, &q, a, &rows, err);

    if (r < 0)
        return r;
    struct pass_record *found = rows.items;

    if (rows.n == 0)
        return err_set(err, -ENOENT, "there is no pass %" PRIu64 " in the store", id);
    if (sqlite3_prepare_v2(s->db, "SELECT snapshot_size, snapshot, plan_size, plan FROM passes WHERE id = ?",
                           -1, &st, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(st, 1, key) != SQLITE_OK || sqlite3_step(st) != SQLITE_ROW)
        return store_failed(s, "be read", err);
    if ((r = read_text(s, st, 0, a, &found->snapshot, err)) < 0 ||
        (r = read_text(s, st, 2, a, &found->plan, err)) < 0)
        return r;
    *ret = *found;
    return 0;
}
