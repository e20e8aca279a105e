/* sqlite.c: the store port's writing side. Reading is load.c's. */
#include "store/sqlite.h"

#include "store/compress.h"
#include "store/consoles.h"
#include "store/internal.h"
#include "store/rows.h"
#include "store/series_write.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

int store_failed(const struct store *s, const char *doing, struct err *err)
{
    int system = s->db ? sqlite3_system_errno(s->db) : 0;
    const char *what = s->db ? sqlite3_errmsg(s->db) : "out of memory";

    if (system)
        return err_set(err, -EIO, "the store %s could not %s: %s (%s)", s->path, doing, what,
                       strerror(system));
    return err_set(err, -EIO, "the store %s could not %s: %s", s->path, doing, what);
}

/* ---- statements ---- */

int store_bind_text(sqlite3_stmt *st, const char *name, const char *text)
{
    int i = sqlite3_bind_parameter_index(st, name);

    return i == 0 ? SQLITE_OK : sqlite3_bind_text(st, i, text, -1, SQLITE_STATIC);
}

int store_bind_number(sqlite3_stmt *st, const char *name, int64_t number)
{
    int i = sqlite3_bind_parameter_index(st, name);

    return i == 0 ? SQLITE_OK : sqlite3_bind_int64(st, i, number);
}

int store_prepare_one(const struct store *s, const char *sql, sqlite3_stmt **ret, const char *doing,
                      struct err *err)
{
    return sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : store_failed(s, doing, err);
}

int store_read_number(const struct store *s, const char *sql, int64_t *ret, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    *ret = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    return 0;
}

int store_read_count(const struct store *s, sqlite3_stmt *st, uint64_t *ret, struct err *err)
{
    if (sqlite3_step(st) != SQLITE_ROW)
        return store_failed(s, "be read", err);
    *ret = (uint64_t)sqlite3_column_int64(st, 0);
    return 0;
}

/* Deletes what is too old, the oldest first: a tenth of the rows at a time, because the clock that says so
 * may be wrong. 9223372036854775807, of another source: all of them. */
#define OLDEST(table, keys, by, old)                                                                         \
    "DELETE FROM " table " WHERE (" keys ") IN (SELECT " keys " FROM " table " WHERE " old " ORDER BY " by   \
    " LIMIT iif(?1 = 9223372036854775807, -1, (SELECT count(*) / 10 + 1 FROM " table ")))"

/* Statements whose text depends on a table of columns are built in store_prepare(). */
static const char *const fixed_sql[ST_COUNT] = {
    [ST_BEGIN] = "BEGIN IMMEDIATE",
    [ST_COUNT_WRITE] = "INSERT OR REPLACE INTO notes (key, value) VALUES ('" NOTE_WRITES "', ?)",
    [ST_COMMIT] = "COMMIT",
    [ST_SAVEPOINT] = "SAVEPOINT group_of_puts",
    [ST_RELEASE] = "RELEASE group_of_puts",
    /* all passes older than the newest ones that fit; the newest stays, however large */
    [ST_TRIM_PASSES] =
        "DELETE FROM passes WHERE id < (SELECT max(id) FROM passes) AND id IN (SELECT id FROM"
        " (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS so_far FROM passes) WHERE so_far > ?)",
    [ST_FORGET_NOTE] = "DELETE FROM notes WHERE key = ?",
    [ST_FORGET_SETTING] = "DELETE FROM settings WHERE host = ? AND pool = ?",
    [ST_FORGET_FAILURE] = "DELETE FROM failures WHERE vm = ? AND host = ?",
    [ST_PRUNE_SAMPLES] = "DELETE FROM samples WHERE time < ?",
    [ST_PRUNE_ACTIONS] = OLDEST("actions", "id", "ended", "ended > 0 AND ended < ?1"),
    [ST_PRUNE_MIGRATIONS] = OLDEST("migrations", "id", "ended", "ended < ?1"),
    [ST_PRUNE_RATES] = OLDEST("rates", "from_host, to_host", "learned", "learned < ?1"),
    [ST_PRUNE_DIRTIES] = OLDEST("dirty_rates", "vm", "learned", "learned < ?1"),
    /* a host that Ballast put to standby or has in maintenance stays, unless all hosts are deleted */
    [ST_PRUNE_HOSTS] = OLDEST("hosts", "host", "seen",
                              "seen < ?1 AND ((put_down = 0 AND our_maintenance = 0 AND maintenance = 0)"
                              " OR ?1 = 9223372036854775807)"),
    [ST_PRUNE_ENERGY] = OLDEST("energy", "time, host", "time", "time + length_s <= ?1"),
    /* a day with a sum and a later hour is summed again */
    [ST_ROLL_ENERGY] =
        "INSERT OR REPLACE INTO energy (time, host, length_s, until, span_s, host_s, unknown_s, measured_s,"
        " asleep_s, used_wh, all_on_wh, wanted_mhz_s, wanted_mb_s, unmet_mhz_s, unmet_mb_s)"
        " SELECT time / 86400 * 86400, host, 86400, max(until), sum(span_s), sum(host_s), sum(unknown_s),"
        " sum(measured_s), sum(asleep_s), sum(used_wh), sum(all_on_wh), sum(wanted_mhz_s), sum(wanted_mb_s),"
        " sum(unmet_mhz_s), sum(unmet_mb_s) FROM energy"
        " WHERE time < ?1 AND time / 86400 IN"
        " (SELECT time / 86400 FROM energy WHERE time < ?1 AND length_s < 86400) GROUP BY host, time / 86400",
    [ST_DROP_ROLLED] = "DELETE FROM energy WHERE time < ? AND length_s < 86400",
    [ST_PRUNE_PATTERNS] = OLDEST("patterns", "time", "time", "time < ?1"),
    [ST_PRUNE_PASSES] =
        "DELETE FROM passes WHERE id <= (SELECT id FROM passes ORDER BY id DESC LIMIT 1 OFFSET ?)",
};

/* The table of each kind of record. A migration has no key and is always appended. */
static const struct {
    const struct sql_table *table;
    const char *doing;
} kinds[record_kind_count] = {
    [RECORD_ACTION] = {&table_actions, "keep an action"},
    [RECORD_MIGRATION] = {&table_migrations, "keep a migration"},
    [RECORD_RATE] = {&table_rates, "keep a rate of copying"},
    [RECORD_DIRTY] = {&table_dirties, "keep a rate of writing"},
    [RECORD_HOST] = {&table_hosts, "keep what is known of a host"},
    [RECORD_SAMPLE] = {&table_samples, "keep samples of demand"},
    [RECORD_PASS] = {&table_passes, "keep a pass"},
    [RECORD_SETTING] = {&table_settings, "keep a pool's setting on a host"},
    [RECORD_NOTE] = {&table_notes, "keep a note"},
    [RECORD_ENERGY] = {&table_energy, "keep what a host drew"},
    [RECORD_PATTERN] = {&table_patterns, "keep what was wanted"},
    [RECORD_FAILURE] = {&table_failures, "keep what failed"},
};

static int prepare(struct store *s, sqlite3_stmt **ret, const char *sql, struct err *err)
{
    int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

    return rc == SQLITE_OK ? 0 : store_failed(s, "be prepared", err);
}

/* An existing action is updated in place: another action with its uid is an error, never replaced. */
static void put_in_place(const struct sql_table *t, struct strbuf *sql)
{
    strbuf_puts(sql, " ON CONFLICT (id) DO UPDATE SET ");
    for (int i = 1; i < t->n; i++)
        strbuf_printf(sql, "%s%s = excluded.%s", i > 1 ? ", " : "", t->columns[i].name, t->columns[i].name);
}

static int prepare_put(struct store *s, enum record_kind kind, struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf sql = STRBUF_EMPTY;
    const struct sql_table *t = kinds[kind].table;
    bool pass = kind == RECORD_PASS;

    strbuf_printf(&sql, "INSERT %sINTO %s (", kind == RECORD_ACTION ? "" : "OR REPLACE ", t->name);
    row_column_names(t, &sql);
    strbuf_printf(&sql, "%s) VALUES (",
                  pass ? ", bytes, snapshot_size, snapshot, plan_size, plan, held_back" : "");
    row_placeholders(t, &sql);
    strbuf_printf(&sql, "%s)", pass ? ", ?, ?, ?, ?, ?, ?" : "");
    if (kind == RECORD_ACTION)
        put_in_place(t, &sql);
    return prepare(s, &s->put[kind], sql.text, err);
}

int store_prepare(struct store *s, struct err *err)
{
    int r = 0;

    for (int i = 0; r == 0 && i < ST_COUNT; i++)
        r = prepare(s, &s->st[i], fixed_sql[i], err);
    for (int kind = 0; r == 0 && kind < record_kind_count; kind++)
        r = prepare_put(s, (enum record_kind)kind, err);
    return r;
}

/* Runs a statement with bound parameters (bound: the result of binding) and resets it. */
static int run(struct store *s, sqlite3_stmt *st, int bound, const char *doing, struct err *err)
{
    int rc = bound == SQLITE_OK ? sqlite3_step(st) : bound;
    int r = 0;

    if (rc == SQLITE_CONSTRAINT)
        r = err_set(err, -EINVAL, "the store %s could not %s: %s", s->path, doing, sqlite3_errmsg(s->db));
    else if (rc != SQLITE_DONE)
        r = store_failed(s, doing, err);
    (void)sqlite3_reset(st);
    (void)sqlite3_clear_bindings(st);
    return r;
}

int store_check_transaction(struct store *s, struct err *err)
{
    if (!s->in_transaction)
        return store_check_files(s, err);
    if (!sqlite3_get_autocommit(s->db))
        return 0;
    return err_set(err, -EIO, "the store %s rolled the transaction back after an earlier error", s->path);
}

/* ---- groups: several statements stored together or not at all, inside a transaction or not ---- */

static int group_begin(struct store *s, const char *doing, struct err *err)
{
    int r = store_check_transaction(s, err);

    return r < 0 ? r : run(s, s->st[ST_SAVEPOINT], SQLITE_OK, doing, err);
}

static void group_undo(struct store *s)
{
    if (sqlite3_get_autocommit(s->db))
        return;
    (void)sqlite3_exec(s->db, "ROLLBACK TO group_of_puts; RELEASE group_of_puts", NULL, NULL, NULL);
    if (!s->in_transaction && !sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* r: the result of the group's statements so far. */
static int group_end(struct store *s, int r, const char *doing, struct err *err)
{
    if (r == 0)
        r = run(s, s->st[ST_RELEASE], SQLITE_OK, doing, err);
    if (r < 0)
        group_undo(s);
    return r;
}

/* ---- the port ---- */

static void rollback(struct store *s)
{
    s->in_transaction = false;
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    series_write_forget(s);
}

int store_begin(struct store *s, struct err *err)
{
    static const char doing[] = "begin to write";
    int r = store_check_files(s, err);

    if (r == 0)
        r = run(s, s->st[ST_BEGIN], SQLITE_OK, doing, err);
    s->in_transaction = r == 0;
    if (r == 0 && s->lock_fd >= 0)
        r = run(s, s->st[ST_COUNT_WRITE], sqlite3_bind_int64(s->st[ST_COUNT_WRITE], 1, s->writes + 1), doing,
                err);
    if (r < 0 && s->in_transaction)
        rollback(s);
    return r;
}

int store_commit(struct store *s, struct err *err)
{
    int r = store_check_transaction(s, err);

    if (r == 0)
        r = store_check_files(s, err);
    if (r == 0)
        r = run(s, s->st[ST_COMMIT], SQLITE_OK, "write what was begun", err);
    if (r < 0)
        rollback(s);
    s->in_transaction = false;
    if (r < 0)
        return r;
    s->writes++;
    store_write_witness(s);
    return store_check_files(s, err); /* what was written meanwhile to a deleted file is lost, or mended */
}

static int bind_packed(sqlite3_stmt *st, int place, const struct compressed *p)
{
    if (!p->data)
        return SQLITE_OK; /* unbound parameters are NULL */
    int rc = sqlite3_bind_int64(st, place, (sqlite3_int64)p->text_len);

    return rc == SQLITE_OK ? sqlite3_bind_blob64(st, place + 1, p->data, p->len, SQLITE_STATIC) : rc;
}

static int put_pass(struct store *s, const struct pass_record *pass, struct err *err)
{
    static const char doing[] = "keep a pass";
    CLEANUP(compress_release) struct compressed snapshot = {0};
    CLEANUP(compress_release) struct compressed plan = {0};
    sqlite3_stmt *st = s->put[RECORD_PASS];
    int place = table_passes.n + 1;
    int r;

    if (compress_text(pass->snapshot, &snapshot) < 0 || compress_text(pass->plan, &plan) < 0)
        return err_set(err, -ENOMEM, "the store %s could not %s: out of memory", s->path, doing);
    if ((r = group_begin(s, doing, err)) < 0)
        return r;
    int bound = row_bind(st, &table_passes, pass);

    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, place, (sqlite3_int64)(snapshot.len + plan.len));
    if (bound == SQLITE_OK)
        bound = bind_packed(st, place + 1, &snapshot);
    if (bound == SQLITE_OK)
        bound = bind_packed(st, place + 3, &plan);
    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, place + 5, pass->held_back);
    r = run(s, st, bound, doing, err);
    if (r == 0)
        r = run(s, s->st[ST_TRIM_PASSES], sqlite3_bind_int64(s->st[ST_TRIM_PASSES], 1, s->passes_bytes),
                doing, err);
    return group_end(s, r, doing, err);
}

static int put(struct store *s, const struct record *record, struct err *err)
{
    sqlite3_stmt *st = s->put[record->kind];
    int r = store_check_transaction(s, err);

    if (r < 0)
        return r;
    if (record->kind == RECORD_PASS)
        return put_pass(s, record->pass, err);
    return run(s, st, row_bind(st, kinds[record->kind].table, record->any), kinds[record->kind].doing, err);
}

static int forget(struct store *s, const struct record *record, struct err *err)
{
    static const struct {
        enum statement which;
        const struct sql_table *keys;
        const char *doing;
    } ways[record_kind_count] = {
        [RECORD_NOTE] = {ST_FORGET_NOTE, &table_note_keys, "forget a note"},
        [RECORD_SETTING] = {ST_FORGET_SETTING, &table_setting_keys, "forget a pool's setting on a host"},
        [RECORD_FAILURE] = {ST_FORGET_FAILURE, &table_failure_keys, "forget what failed"},
    };
    sqlite3_stmt *st = s->st[ways[record->kind].which];
    int r = store_check_transaction(s, err);

    if (r < 0)
        return r;
    return run(s, st, row_bind(st, ways[record->kind].keys, record->any), ways[record->kind].doing, err);
}

static int prune(struct store *s, const struct retention *keep, struct err *err)
{
    static const char doing[] = "drop what is old";
    int64_t day = 0; /* the end of the oldest day that is kept by the hour */
    int r = group_begin(s, doing, err);

    if (r == 0)
        r = store_read_number(
            s, "SELECT min(time) / 86400 * 86400 + 86400 FROM energy WHERE length_s < 86400", &day, err);
    if (r == 0 && day > keep->energy_days_before)
        day = 0;
    const struct {
        enum statement which;
        int64_t bound;
    } steps[] = {
        {ST_PRUNE_SAMPLES, keep->samples_before},
        {ST_PRUNE_ACTIONS, keep->ended_before},
        {ST_PRUNE_MIGRATIONS, keep->ended_before},
        {ST_PRUNE_RATES, keep->learned_before},
        {ST_PRUNE_DIRTIES, keep->learned_before},
        {ST_PRUNE_HOSTS, keep->hosts_before},
        {ST_PRUNE_PASSES, keep->passes_kept},
        {ST_PRUNE_ENERGY, keep->energy_before},
        {ST_ROLL_ENERGY, day},
        {ST_DROP_ROLLED, day},
        {ST_PRUNE_PATTERNS, keep->patterns_before},
    };

    for (size_t i = 0; r == 0 && i < sizeof steps / sizeof *steps; i++)
        r = run(s, s->st[steps[i].which], sqlite3_bind_int64(s->st[steps[i].which], 1, steps[i].bound), doing,
                err);
    if (r == 0)
        r = series_write_prune(s, keep->looks_before, err);
    return group_end(s, r, doing, err);
}

const struct store_ops store_sqlite = {
    .load = store_load,
    .begin = store_begin,
    .commit = store_commit,
    .rollback = rollback,
    .put = put,
    .forget = forget,
    .prune = prune,
    .put_look = store_put_look,
    .list = store_list,
    .has_console = store_has_console,
};
