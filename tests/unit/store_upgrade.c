/* Stores that older versions of Ballast have left behind (stores/), upgraded with all that they hold. */
#include "store_place.h"

#include "base/cleanup.h"
#include "store/backup.h"
#include "store/events.h"
#include "store/passes.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Makes the store of a version: stores/version-N.sql, which an older service's store was written to. */
static void make_store(const struct place *p, int version)
{
    CLEANUP(freep) char *sql = NULL;
    const char *source = getenv("BALLAST_SOURCE_DIR");
    char path[PATH_MAX];
    size_t length = 0;

    assert_non_null(source);
    (void)snprintf(path, sizeof path, "%s/tests/unit/stores/version-%d.sql", source, version);
    CLEANUP(fclosep) FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_true(getdelim(&sql, &length, '\0', file) > 0);
    assert_int_equal(mkdir(p->state, 0700), 0);
    tamper(p, sql);
}

/* All rows of a query on the database NAME, a line each. */
static const char *rows_of(const struct place *p, const char *name, const char *sql, struct arena *a)
{
    char path[PATH_MAX];
    const char *text = "";
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", p->state, name);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW)
        text = arena_printf(a, "%s%s\n", text, (const char *)sqlite3_column_text(st, 0));
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return text;
}

/* Tables with their columns, indices and triggers. */
static const char schema[] =
    "SELECT type || ' ' || name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' UNION ALL "
    "SELECT m.name || ' ' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' ||"
    " coalesce(c.dflt_value, '') || ' ' || c.pk FROM sqlite_master m, pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY 1";

static const struct {
    int version;
    size_t n_actions, n_hosts;
    uint64_t pass;
    const char *note, *value;
} stores[] = {
    {1, 3, 0, 1, "frozen", "2026-11-23T17:39:44Z\n"},
    {15, 18, 4, 3, "source", "sim - -\n"},
};

static void check_pass(struct store *s, uint64_t id)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct stored_snapshot snapshot = {0};
    const char *text = NULL;
    struct err err = {0};

    assert_int_equal(store_read_snapshot(s, id, &snapshot, &err), 0);
    assert_int_equal(store_snapshot_text(&snapshot, &a, &text), 0);
    assert_int_equal(snapshot.held_back, 0);
    assert_non_null(strstr(text, "ballast-snapshot/1"));
    store_snapshot_release(&snapshot);
}

static void test_upgrade(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    store_close(must_open(&p));
    const char *of_new_store = rows_of(&p, "ballast.db", schema, &a);
    const char *version = rows_of(&p, "ballast.db", "PRAGMA user_version", &a);
    assert_string_equal(
        rows_of(&p, "ballast.db", "SELECT count(*) FROM notes WHERE key NOT GLOB 'store:*'", &a), "0\n");

    remove_all(p.dir);
    for (size_t i = 0; i < ELEMENTS(stores); i++) {
        char sql[128];

        place_make(&p);
        make_store(&p, stores[i].version);
        const char *instance = rows_of(&p, "ballast.db", "SELECT name FROM instance", &a);
        struct store *s = must_open(&p);
        struct stored all = must_load(s, &a);

        assert_true(store_was_upgraded(s));
        assert_true(all.n_actions == stores[i].n_actions && all.n_hosts == stores[i].n_hosts);
        assert_true(all.n_migrations > 0 && all.n_samples == 40);
        assert_string_equal(arena_printf(&a, "%s\n", all.instance), instance);
        (void)snprintf(sql, sizeof sql, "SELECT value FROM notes WHERE key = '%s'", stores[i].note);
        assert_string_equal(rows_of(&p, "ballast.db", sql, &a), stores[i].value);
        assert_string_equal(
            rows_of(&p, "ballast.db", "SELECT value FROM notes WHERE key = 'mem_reclaim_unconfirmed'", &a),
            "upgraded\n");
        check_pass(s, stores[i].pass);
        store_close(s);
        assert_string_equal(rows_of(&p, "ballast.db", schema, &a), of_new_store);
        assert_string_equal(rows_of(&p, "ballast.db", "PRAGMA user_version", &a), version);
        /* the way back: all of it, as it was */
        assert_string_equal(rows_of(&p, "before-upgrade.db", "PRAGMA user_version", &a),
                            arena_printf(&a, "%d\n", stores[i].version));
        assert_string_equal(rows_of(&p, "before-upgrade.db", "SELECT count(*) FROM actions", &a),
                            arena_printf(&a, "%zu\n", stores[i].n_actions));
        s = must_open(&p);
        assert_false(store_was_upgraded(s));
        store_close(s);
        remove_all(p.dir);
    }
}

/* Events of an older store have VM and hosts in their data only; damaged data are left as they are. */
static const struct {
    const char *vm, *host;
    const char *ids;
} events[] = {
    {NULL, NULL, "1 6 7 11 61 64 66 70 71 72 76"},
    {"db-01", NULL, "1 7"}, /* 11 is damaged */
    {"stage-09", NULL, "61"},
    {NULL, "pretend-1", "1 7 72"},
    {NULL, "pretend-3", "61"}, /* where the VM went */
    {NULL, "pretend-4", "1 7 61 64 66 70 71 72"},
    {"app-03", "pretend-4", "72"},
    {"pretend-4", NULL, ""},
};

static void test_events(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    make_store(&p, 15);
    tamper(&p, "UPDATE events SET data = '{' WHERE id = 11");
    struct store *s = must_open(&p);

    for (size_t i = 0; i < ELEMENTS(events); i++) {
        const struct event_query q = {.vm = events[i].vm, .host = events[i].host, .limit = 100};
        struct event_record *list = NULL;
        struct err err = {0};
        const char *ids = "";
        size_t n = 0;

        assert_int_equal(store_list_events(s, &q, &a, &list, &n, &err), 0);
        for (size_t k = 0; k < n; k++)
            ids = arena_printf(&a, "%s%s%d", ids, k ? " " : "", (int)list[k].id);
        assert_string_equal(ids, events[i].ids);
    }
    store_close(s);
    remove_all(p.dir);
}

/* Of a host that an older version woke it is not known which method of those that were tried has worked. */
static void test_wakes(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    make_store(&p, 15);
    struct store *s = must_open(&p);
    struct stored all = must_load(s, &a);

    for (size_t i = 0; i < all.n_hosts; i++) {
        const struct host_record *host = &all.hosts[i];
        bool woken = strcmp(host->host, "pretend-4") == 0;

        assert_true((host->woke > 0) == woken);
        assert_int_equal(host->woke_by, woken ? WOKE_BY_OLDER | WAKE_HYPERVISOR : 0);
        assert_int_equal(host->proofs[0].proven, 0);
        assert_false(host->our_maintenance);
    }
    store_close(s);
    remove_all(p.dir);
}

/* The upgrade makes a copy itself. Another process that makes one later leaves the log where it is. */
static void test_a_copy_after_it(void **state)
{
    const struct record note = {RECORD_NOTE, .note = &(struct note){"x", "y"}};
    char log[160], copy[160];
    struct stat before, after;
    struct err err = {0};
    struct place p;
    int status = 0, go[2];
    char byte = 0;

    (void)state;
    place_make(&p);
    make_store(&p, 15);
    (void)snprintf(log, sizeof log, "%s-wal", p.db);
    (void)snprintf(copy, sizeof copy, "%s/copy.db", p.dir);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork(); /* before SQLite knows of any lock */

    assert_true(child >= 0);
    if (child == 0)
        _exit(read(go[0], &byte, 1) == 1 && store_backup(p.state, copy, false, &err) == 0 ? 0 : 1);
    struct store *s = must_open(&p);

    assert_int_equal(store_sqlite.put(s, &note, &err), 0);
    assert_int_equal(stat(log, &before), 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    (void)close(go[0]);
    (void)close(go[1]);
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_wakes),
        cmocka_unit_test(test_a_copy_after_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
