/* schema.c: creates the tables and upgrades older databases. */
#include "store/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

/* "Bals": marks Ballast's databases (PRAGMA application_id). */
#define APPLICATION_ID 0x42616c73

/* Script i upgrades version i to version i + 1. A released script is never changed; new ones are added at the
 * end. Words are those of names.h, instants are seconds since 1970, NULL is an unknown value.
 *
 * AUTOINCREMENT: a number is never reused, even after its row was pruned. Samples are in the order of time,
 * so that a batch is appended at one end and pruned at the other. A pass has its texts last, so that a list
 * of passes does not read them. */
static const char *const scripts[] = {
    "CREATE TABLE instance (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL);"
    "CREATE TABLE actions ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, pass INTEGER NOT NULL,"
    " state TEXT NOT NULL, kind TEXT NOT NULL, priority INTEGER NOT NULL,"
    " vm TEXT, from_host TEXT, to_host TEXT, host TEXT,"
    " reason TEXT NOT NULL, rule TEXT, text TEXT, depends_on TEXT NOT NULL, move_group INTEGER NOT NULL,"
    " imbalance_after REAL, cost_cpu REAL, cost_mem REAL, benefit_cpu REAL, benefit_mem REAL, duration_s "
    "REAL,"
    " approved_by TEXT, task TEXT, why TEXT, attempts INTEGER NOT NULL, cancel_asked INTEGER NOT NULL,"
    " created INTEGER NOT NULL, seen INTEGER NOT NULL,"
    " approved INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL);"
    "CREATE INDEX actions_by_end ON actions (ended);"
    "CREATE TABLE migrations ("
    " id INTEGER PRIMARY KEY, action INTEGER NOT NULL, vm TEXT NOT NULL,"
    " from_host TEXT NOT NULL, to_host TEXT NOT NULL,"
    " started INTEGER NOT NULL, ended INTEGER NOT NULL, mem_mb REAL, ok INTEGER NOT NULL);"
    "CREATE INDEX migrations_by_end ON migrations (ended);"
    "CREATE TABLE samples ("
    " time INTEGER NOT NULL, vm TEXT NOT NULL, cpu_mhz REAL, mem_mb REAL, PRIMARY KEY (time, vm)) WITHOUT "
    "ROWID;"
    "CREATE TABLE passes ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, trigger TEXT NOT NULL,"
    " imbalance_before REAL, imbalance_after REAL, target REAL,"
    " recommendations INTEGER NOT NULL, faults INTEGER NOT NULL, decide_us INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " snapshot_size INTEGER, snapshot BLOB, plan_size INTEGER, plan BLOB);"
    "CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",

    "CREATE TABLE rates ("
    " from_host TEXT NOT NULL, to_host TEXT NOT NULL, mb_s REAL NOT NULL, learned INTEGER NOT NULL,"
    " PRIMARY KEY (from_host, to_host)) WITHOUT ROWID;"
    "CREATE TABLE dirty_rates ("
    " vm TEXT PRIMARY KEY, mb_s REAL NOT NULL, learned INTEGER NOT NULL) WITHOUT ROWID;",

    "CREATE TABLE settings ("
    " host TEXT NOT NULL, pool TEXT NOT NULL,"
    " cpu_reservation REAL NOT NULL, cpu_limit REAL, cpu_shares REAL NOT NULL,"
    " mem_reservation REAL NOT NULL, mem_limit REAL, mem_shares REAL NOT NULL,"
    " PRIMARY KEY (host, pool)) WITHOUT ROWID;",

    "CREATE TABLE hosts ("
    " host TEXT PRIMARY KEY, on_since INTEGER NOT NULL, standby_since INTEGER NOT NULL,"
    " put_down INTEGER NOT NULL, woke INTEGER NOT NULL, wake_failed INTEGER NOT NULL, boot_s REAL,"
    " seen INTEGER NOT NULL) WITHOUT ROWID;",

    "CREATE TABLE energy ("
    " time INTEGER NOT NULL, host TEXT NOT NULL, length_s INTEGER NOT NULL, until INTEGER NOT NULL,"
    " span_s REAL NOT NULL, host_s REAL NOT NULL, unknown_s REAL NOT NULL, measured_s REAL NOT NULL,"
    " asleep_s REAL NOT NULL, used_wh REAL NOT NULL, all_on_wh REAL NOT NULL,"
    " wanted_mhz_s REAL NOT NULL, wanted_mb_s REAL NOT NULL, unmet_mhz_s REAL NOT NULL,"
    " unmet_mb_s REAL NOT NULL, scale REAL, PRIMARY KEY (time, host)) WITHOUT ROWID;",

    "CREATE TABLE events ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL,"
    " type TEXT NOT NULL, severity TEXT NOT NULL, subject TEXT, data TEXT NOT NULL);"
    "CREATE INDEX events_by_time ON events (time);",

    "CREATE TABLE patterns ("
    " time INTEGER PRIMARY KEY, mean_cpu REAL, mean_mem REAL, peak_cpu REAL, peak_mem REAL,"
    " size_cpu REAL, size_mem REAL, expected_cpu REAL, expected_mem REAL,"
    " days INTEGER NOT NULL, of_days INTEGER NOT NULL, woken INTEGER NOT NULL);",

    "CREATE TABLE consoles ("
    " action INTEGER PRIMARY KEY, host TEXT NOT NULL, time INTEGER NOT NULL, why TEXT, data BLOB NOT NULL);"
    "CREATE TRIGGER consoles_end AFTER DELETE ON actions"
    " BEGIN DELETE FROM consoles WHERE action = old.id; END;",

    "ALTER TABLE hosts ADD COLUMN woken_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN woken_for TEXT NOT NULL DEFAULT 'asked';",

    "ALTER TABLE hosts ADD COLUMN woke_by INTEGER NOT NULL DEFAULT 0;",

    "DELETE FROM notes WHERE key = 'regret';", /* quiet times come from the patterns */

    "ALTER TABLE actions ADD COLUMN ended_by TEXT;"
    "ALTER TABLE actions ADD COLUMN unclear INTEGER NOT NULL DEFAULT 0;",

    "CREATE TABLE failures ("
    " vm TEXT NOT NULL, host TEXT NOT NULL, from_host TEXT, failures INTEGER NOT NULL,"
    " pauses INTEGER NOT NULL, recent INTEGER NOT NULL, failed INTEGER NOT NULL, until INTEGER NOT NULL,"
    " arrived INTEGER NOT NULL, departed INTEGER NOT NULL, reason TEXT, PRIMARY KEY (vm, host)) WITHOUT "
    "ROWID;",

    "ALTER TABLE actions ADD COLUMN predicted_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE actions ADD COLUMN observed_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE actions ADD COLUMN predicted_from_cpu REAL;"
    "ALTER TABLE actions ADD COLUMN predicted_from_mem REAL;"
    "ALTER TABLE actions ADD COLUMN predicted_to_cpu REAL;"
    "ALTER TABLE actions ADD COLUMN predicted_to_mem REAL;"
    "ALTER TABLE actions ADD COLUMN observed_from_cpu REAL;"
    "ALTER TABLE actions ADD COLUMN observed_from_mem REAL;"
    "ALTER TABLE actions ADD COLUMN observed_to_cpu REAL;"
    "ALTER TABLE actions ADD COLUMN observed_to_mem REAL;"
    "ALTER TABLE actions ADD COLUMN took_s REAL;"
    "ALTER TABLE actions ADD COLUMN overlaps INTEGER NOT NULL DEFAULT 0;",

    "ALTER TABLE actions ADD COLUMN version INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE actions ADD COLUMN former_to TEXT;"
    "ALTER TABLE actions ADD COLUMN redirected INTEGER NOT NULL DEFAULT 0;",

    /* the VM and the hosts that an event is about; older events have them in their data only */
    "ALTER TABLE events ADD COLUMN vm TEXT;"
    "ALTER TABLE events ADD COLUMN host TEXT;"
    "ALTER TABLE events ADD COLUMN to_host TEXT;"
    "UPDATE events SET"
    " vm = coalesce(json_extract(data, '$.action.vm'), json_extract(data, '$.vm')),"
    " host = coalesce(json_extract(data, '$.action.from'), json_extract(data, '$.action.host'),"
    " json_extract(data, '$.host')),"
    " to_host = json_extract(data, '$.action.to') WHERE json_valid(data);"
    "CREATE INDEX events_by_vm ON events (vm, id) WHERE vm IS NOT NULL;"
    "CREATE INDEX events_by_host ON events (host, id) WHERE host IS NOT NULL;"
    "CREATE INDEX events_by_to_host ON events (to_host, id) WHERE to_host IS NOT NULL;"
    "CREATE INDEX events_by_kind ON events (kind, id);",

    "ALTER TABLE actions ADD COLUMN vm_lack_before REAL;"
    "ALTER TABLE actions ADD COLUMN vm_lack_after REAL;"
    "ALTER TABLE actions ADD COLUMN harm REAL;",

    "ALTER TABLE actions ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;",

    /* The controllers of a host that a person confirmed to be its own. */
    "ALTER TABLE hosts ADD COLUMN confirmed TEXT;"
    "ALTER TABLE hosts ADD COLUMN confirmed_by TEXT;"
    "ALTER TABLE hosts ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;",
    /* Of a host that sleeps, what is needed to wake it after it has left the inventory. */
    "ALTER TABLE hosts ADD COLUMN facts TEXT;",

    /* What is known of each method that wakes a host. Which method woke a host was not known before: 1 << 31
     * is WOKE_BY_OLDER. */
    "ALTER TABLE hosts ADD COLUMN ipmi_settings INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN ipmi_proven INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN ipmi_failed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN ipmi_failed_code INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN ipmi_why TEXT;"
    "ALTER TABLE hosts ADD COLUMN redfish_settings INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN redfish_proven INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN redfish_failed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN redfish_failed_code INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN redfish_why TEXT;"
    "ALTER TABLE hosts ADD COLUMN wol_settings INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN wol_proven INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN wol_failed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN wol_failed_code INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN wol_why TEXT;"
    "ALTER TABLE hosts ADD COLUMN hypervisor_settings INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN hypervisor_proven INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN hypervisor_failed INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN hypervisor_failed_code INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE hosts ADD COLUMN hypervisor_why TEXT;"
    "ALTER TABLE actions ADD COLUMN wake_method INTEGER NOT NULL DEFAULT 0;"
    "UPDATE hosts SET woke_by = woke_by | (1 << 31) WHERE woke > 0;",

    /* A standby of ours has put the host into maintenance mode, and is to end it. */
    "ALTER TABLE hosts ADD COLUMN our_maintenance INTEGER NOT NULL DEFAULT 0;",

    /* Tokens of the API over HTTP: hash is the SHA-256 of the token. */
    "CREATE TABLE tokens ("
    " name TEXT PRIMARY KEY, role TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, created INTEGER NOT NULL,"
    " created_by TEXT NOT NULL, expires INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;",

    /* Figures of looks, and means over quarters of an hour: series_rows.h has the numbers of blocks. */
    "CREATE TABLE series (id INTEGER PRIMARY KEY CHECK (id = 1), thinned_until INTEGER NOT NULL);"
    "INSERT INTO series (id, thinned_until) VALUES (1, 0);"
    "CREATE TABLE series_objects ("
    " kind TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, since INTEGER NOT NULL,"
    " gone INTEGER NOT NULL, PRIMARY KEY (kind, id), UNIQUE (kind, number)) WITHOUT ROWID;"
    "CREATE TABLE looks (time INTEGER PRIMARY KEY, covers_s INTEGER NOT NULL);"
    "CREATE TABLE look_blocks (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE TABLE mean_blocks (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);",

    /* What a pass left out (HELD_BACK_*). Behind the texts: only a replay reads it, which reads them too. */
    "ALTER TABLE passes ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0;",

    /* Whose token it is, for the four-eyes rule. */
    "ALTER TABLE tokens ADD COLUMN owner TEXT;",

    "ALTER TABLE actions ADD COLUMN downtime_s REAL;",

    /* The predicted time of a migration's action beyond copying. */
    "ALTER TABLE actions ADD COLUMN overhead_s REAL;",

    /* The host is in maintenance, where its hypervisor has no such mode. */
    "ALTER TABLE hosts ADD COLUMN maintenance INTEGER NOT NULL DEFAULT 0;",

    /* Until now, mem_overcommit and mem_admission had no effect on free memory. A new store has no name yet.
     */
    "INSERT INTO notes (key, value) SELECT 'mem_reclaim_unconfirmed', 'upgraded' FROM instance;",

    /* The VM that an action is about, told from another one with its id. */
    "ALTER TABLE actions ADD COLUMN identity TEXT;",
};

#define VERSION ((int64_t)(sizeof scripts / sizeof *scripts))

static int broken(sqlite3 *db, const char *path, const char *doing, struct err *err)
{
    return err_set(err, -EIO, "the store %s cannot be %s: %s", path, doing, sqlite3_errmsg(db));
}

static int run(sqlite3 *db, const char *path, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                : broken(db, path, "brought up to date", err);
}

static int number(sqlite3 *db, const char *path, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(st, 0);
    int r = rc == SQLITE_ROW ? 0 : broken(db, path, "read", err);

    (void)sqlite3_finalize(st);
    return r;
}

/* A random name, unique to this store: part of every action's uid. */
static int name_instance(sqlite3 *db, const char *path, struct err *err)
{
    uint64_t random;
    char sql[96];

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_set(err, -EIO, "the store %s cannot be created: the system gives no random numbers", path);
    (void)snprintf(sql, sizeof sql, "INSERT INTO instance (id, name) VALUES (1, '%016" PRIx64 "')", random);
    return run(db, path, sql, err);
}

int schema_rename_instance(sqlite3 *db, const char *path, struct err *err)
{
    int r = run(db, path,
                "DELETE FROM instance;"
                "INSERT OR REPLACE INTO notes (key, value) VALUES ('" NOTE_FILE "', 'copy')",
                err);

    return r < 0 ? r : name_instance(db, path, err);
}

static int migrate(sqlite3 *db, const char *path, int64_t version, struct err *err)
{
    char sql[96];
    int r = 0;

    for (int64_t v = version; r == 0 && v < VERSION; v++)
        r = run(db, path, scripts[v], err);
    if (r == 0 && version == 0)
        r = name_instance(db, path, err);
    if (r < 0)
        return r;
    (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
                   (int)VERSION);
    return run(db, path, sql, err);
}

/* Version 0 without tables is a new file; with tables it belongs to another program. */
static int check_owner(sqlite3 *db, const char *path, int64_t version, struct err *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int r;

    if ((r = number(db, path, "PRAGMA application_id", &application, err)) < 0 ||
        (r = number(db, path, "SELECT count(*) FROM sqlite_master", &tables, err)) < 0)
        return r;
    if (application != APPLICATION_ID && (version != 0 || tables != 0))
        return err_set(err, -EIO, "the store %s is a database of another program, expected one of Ballast",
                       path);
    if (version > VERSION)
        return err_set(err, -EIO,
                       "the store %s was written by a newer version of Ballast (its version is %" PRId64
                       ", expected at most %" PRId64 "); it was left as it is; the store from before the "
                       "upgrade is " STORE_FORMER " in the same folder",
                       path, version, VERSION);
    return 0;
}

int schema_check_owner(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version = 0;
    int r = number(db, path, "PRAGMA user_version", &version, err);

    if (r == 0 && version == 0)
        return err_set(err, -EIO, "the store %s is empty or not one of Ballast", path);
    return r < 0 ? r : check_owner(db, path, version, err);
}

int schema_older(sqlite3 *db, const char *path, int64_t *ret, struct err *err)
{
    int64_t version = 0;
    int r;

    if ((r = number(db, path, "PRAGMA user_version", &version, err)) < 0 ||
        (r = check_owner(db, path, version, err)) < 0)
        return r;
    *ret = version < VERSION ? version : 0;
    return 0;
}

int schema_migrate(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version = 0;
    int r;

    if ((r = number(db, path, "PRAGMA user_version", &version, err)) < 0 || version == VERSION)
        return r;
    if ((r = run(db, path, "BEGIN IMMEDIATE", err)) < 0)
        return r;
    if ((r = migrate(db, path, version, err)) == 0)
        r = run(db, path, "COMMIT", err);
    if (r < 0 && !sqlite3_get_autocommit(db))
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return r;
}
