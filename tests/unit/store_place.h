/* store_place.h: shared by the store's tests: a folder for each test, and two actions. */
#ifndef BALLAST_TESTS_STORE_PLACE_H
#define BALLAST_TESTS_STORE_PLACE_H

#include "unit.h"

#include "store/sqlite.h"

#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSES_MB 64

struct place {
    char dir[64];
    char state[96]; /* the state directory, not there at first */
    char db[128];
};

static inline void place_make(struct place *p)
{
    (void)snprintf(p->dir, sizeof p->dir, "/tmp/ballast-store-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->state, sizeof p->state, "%s/state", p->dir);
    (void)snprintf(p->db, sizeof p->db, "%s/ballast.db", p->state);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void remove_all(const char *dir)
{
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline struct store *must_open(const struct place *p)
{
    struct store *s = NULL;
    struct err err = {0};
    int r = store_open(p->state, PASSES_MB, &s, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    return s;
}

static inline struct stored must_load(struct store *s, struct arena *a)
{
    struct stored ret;
    struct err err = {0};
    int r = store_sqlite.load(s, 0, 0, a, &ret, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    return ret;
}

/* Runs SQL on the database behind the store's back. */
static inline void tamper(const struct place *p, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static const struct action_record full = {
    .id = 7,
    .uid = "uid-7",
    .pass = 3,
    .state = ACTION_RUNNING,
    .kind = ACTION_MIGRATE,
    .priority = 2,
    .vm = "web-01",
    .from = "esx1",
    .to = "esx2",
    .reason = REASON_BALANCE_CPU,
    .rule = "r1",
    .text = "evens out \"CPU\" load; 'quoted' \xc3\xa9",
    .depends_on = (const uint64_t[]){3, 5, 18446744073u},
    .n_depends_on = 3,
    .group = 2,
    .imbalance_after = 0.125,
    .cost = {1.5, 2.5},
    .benefit = {100.25, UNKNOWN},
    .duration_s = 12.5,
    .approved_by = "engine",
    .ended_by = "root (uid 0)",
    .unclear = 110,
    .refused = true,
    .version = 3,
    .former_to = "h7",
    .redirected = 1700000123,
    .task = "task-12",
    .why = "waits",
    .attempts = 2,
    .cancel_asked = true,
    .created = 1000,
    .seen = 2000,
    .approved = 1500,
    .started = 1600,
    .ended = 0,
    .result = {.predicted_at = 1590,
               .observed_at = 2300,
               .predicted = {{0.5, 0.25}, {0.75, 1.125}},
               .observed = {{0.375, 0.3125}, {0.625, 1.25}},
               .duration_s = 13.5,
               .vm_lack = {0.125, 0.25},
               .harm = -0.5,
               .overlaps = true},
};

static const struct action_record bare = {
    .id = 8,
    .uid = "uid-8",
    .state = ACTION_RECOMMENDED,
    .kind = ACTION_ENTER_MAINTENANCE,
    .priority = 1,
    .host = "esx1",
    .reason = REASON_MAINTENANCE,
    .imbalance_after = UNKNOWN,
    .created = 1000,
    .seen = 1000,
};

#endif
