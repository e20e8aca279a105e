/* limit.c: holds the store within its limit, and says how large it is. */
#include "store/limit.h"

#include "engine/knowledge/demand_history.h"
#include "store/series_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>

#define MIB ((uint64_t)1024 * 1024)

#define FULL_PERCENT 95

#define HOUR_S 3600
#define DAY_S (24 * HOUR_S)

/* Deletions of one call: a look waits for them. */
#define DELETIONS_MAX 8

/* A disk with less than both is nearly full: a tenth of a percent of a large one is still a lot. */
#define DISK_LOW_BYTES (512 * MIB)
#define DISK_LOW_PART 20

void store_set_limit(struct store *s, int64_t mb)
{
    s->limit_bytes = mb * (int64_t)MIB;
}

static int read_used(const struct store *s, int64_t *ret, struct err *err)
{
    return store_read_number(s,
                             "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(),"
                             " pragma_freelist_count(), pragma_page_size()",
                             ret, err);
}

int store_size(struct store *s, struct store_size *ret, struct err *err)
{
    struct statvfs disk;
    int64_t used = 0;
    int r = read_used(s, &used, err);

    if (r < 0)
        return r;
    int64_t newest = 0;
    instant_s means = 0, looks = 0;

    if ((r = store_series_kept(s, &means, &looks, err)) < 0 ||
        (r = store_read_number(s, "SELECT max(time) FROM looks", &newest, err)) < 0)
        return r;
    *ret = (struct store_size){.used_bytes = (uint64_t)used,
                               .limit_bytes = (uint64_t)s->limit_bytes,
                               .figures_s = newest - (means > 0 && means < looks ? means : looks)};
    if (statvfs(s->path, &disk) == 0) {
        ret->disk_bytes = (uint64_t)disk.f_blocks * disk.f_frsize;
        ret->disk_free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    }
    return 0;
}

const char *store_size_warning(const struct store_size *is, struct arena *a)
{
    const uint64_t low =
        is->disk_bytes / DISK_LOW_PART < DISK_LOW_BYTES ? is->disk_bytes / DISK_LOW_PART : DISK_LOW_BYTES;

    if (is->disk_bytes > 0 && is->disk_free_bytes < low)
        return arena_printf(a,
                            "%" PRIu64
                            " MiB are left on the disk of the store: when it is full, nothing new is "
                            "started",
                            is->disk_free_bytes / MIB);
    if (is->limit_bytes == 0 || is->used_bytes <= is->limit_bytes / 100 * FULL_PERCENT)
        return NULL;
    if (is->figures_s < LOOKS_KEPT_S)
        return arena_printf(a,
                            "history.store_mb is too small for this cluster: with %" PRIu64
                            " MiB, passes and figures over time go back no further than %.1f hours",
                            is->limit_bytes / MIB, (double)is->figures_s / HOUR_S);
    return arena_printf(a,
                        "the store has %" PRIu64 " of at most %" PRIu64
                        " MiB (history.store_mb): beyond that the oldest passes and figures over time are "
                        "deleted; the figures go back %.1f days",
                        is->used_bytes / MIB, is->limit_bytes / MIB, (double)is->figures_s / DAY_S);
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* The oldest of each, most dispensable first. Each reads only the rows that it deletes. */
static const char *const deletions[] = {
    "DELETE FROM passes WHERE id IN (SELECT id FROM passes WHERE id < (SELECT max(id) FROM passes)"
    " ORDER BY id LIMIT 4)",
    /* four hours of means; a block's number begins with its time (series_rows.h) */
    "DELETE FROM mean_blocks WHERE id < ((SELECT min(id) FROM mean_blocks) >> 24) + 1 << 24",
    /* a look, with what says that it was */
    "DELETE FROM looks WHERE time <= (SELECT min(id) FROM look_blocks) >> 24"
    " AND time < (SELECT max(time) FROM looks);"
    "DELETE FROM look_blocks WHERE id < ((SELECT min(id) FROM look_blocks) >> 24) + 1 << 24"
    " AND id < (SELECT max(time) FROM looks) << 24",
};

_Static_assert(SERIES_KEY_BITS == 24, "the statements above shift by it");

/* 1: something was deleted. */
static int delete_oldest(struct store *s, struct err *err)
{
    for (size_t i = 0; i < sizeof deletions / sizeof *deletions; i++) {
        if (sqlite3_exec(s->db, deletions[i], NULL, NULL, NULL) != SQLITE_OK)
            return store_failed(s, "drop what is old", err);
        if (sqlite3_changes(s->db) > 0)
            return 1;
    }
    return 0;
}

int store_limit_enforce(struct store *s, struct err *err)
{
    for (int i = 0; s->limit_bytes > 0 && i < DELETIONS_MAX; i++) {
        int64_t used = 0;
        int r = read_used(s, &used, err);

        if (r < 0 || used <= s->limit_bytes || (r = delete_oldest(s, err)) <= 0)
            return r;
    }
    return 0;
}

/* ---- a clock that may be wrong ------------------------------------------------------------------ */

int store_delete_old_samples(struct store *s, instant_s now, bool *ret_held, struct err *err)
{
    const instant_s hour_ago = now - DEMAND_HISTORY_LENGTH_S;
    int64_t held = 0;
    char sql[192];

    (void)snprintf(sql, sizeof sql, "SELECT max(time) FROM looks WHERE time <= %" PRId64, hour_ago);
    int r = store_read_number(s, sql, &held, err);

    *ret_held = held >= now - LOOKS_KEPT_S;
    if (r < 0 || !*ret_held)
        return r;
    (void)snprintf(sql, sizeof sql,
                   "DELETE FROM samples WHERE time < %" PRId64 " AND time <= (SELECT min(time) FROM samples"
                   " WHERE time > (SELECT min(time) FROM samples))",
                   hour_ago);
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                   : store_failed(s, "drop old samples", err);
}

int store_may_drop_future(struct store *s, instant_s now, bool *ret, struct err *err)
{
    int64_t within = 0;
    char sql[160];

    (void)snprintf(sql, sizeof sql, "SELECT sum(time > %" PRId64 ") * 10 <= count(*) FROM looks", now);
    if (s->behind == 0 || now < s->behind)
        s->behind = now;
    int r = store_read_number(s, sql, &within, err);

    *ret = within || now - s->behind >= DEMAND_HISTORY_LENGTH_S;
    return r;
}
