/* series_rows.c: rows of looks and means. */
#include "store/series_rows.h"

#include "base/cleanup.h"
#include "store/compress.h"
#include "store/rows.h"

#include <errno.h>

int series_rows_thinned_until(const struct store *s, instant_s *ret, struct err *err)
{
    return store_read_number(s, "SELECT thinned_until FROM series", ret, err);
}

int series_rows_list_looks(const struct store *s, instant_s since, instant_s until, struct arena *a,
                           struct series_time **ret, size_t *ret_n, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = store_prepare_one(
        s, "SELECT time, covers_s FROM looks WHERE time > ? AND time - covers_s < ? ORDER BY time", &st,
        "be read", err);

    if (r < 0)
        return r;
    if (sqlite3_bind_int64(st, 1, since) != SQLITE_OK || sqlite3_bind_int64(st, 2, until) != SQLITE_OK)
        return store_failed(s, "be read", err);
    return store_read_rows(s, st, &table_looks, sizeof **ret, a, ret, ret_n, err);
}

int series_rows_prepare(const struct store *s, bool means, sqlite3_stmt **ret, struct err *err)
{
    const char *sql = means ? "SELECT size, data FROM mean_blocks WHERE id = ?"
                            : "SELECT size, data FROM look_blocks WHERE id = ?";

    return sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : store_failed(s, "be read", err);
}

static int unpack_row(const struct store *s, sqlite3_stmt *st, struct arena *a, struct series_block *ret,
                      struct err *err)
{
    const int64_t size = sqlite3_column_int64(st, 0);
    const void *data = sqlite3_column_blob(st, 1);
    const char *bytes = NULL;

    if (data && size >= 0 && size <= SERIES_BLOCK_BYTES_MAX &&
        compress_restore(data, (size_t)sqlite3_column_bytes(st, 1), (size_t)size, a, &bytes) == 0 &&
        series_block_unpack((const unsigned char *)bytes, (size_t)size, a, ret) == 0)
        return 0;
    return err_set(err, -EIO, "the store %s has damaged figures of the past", s->path);
}

int series_rows_read(const struct store *s, sqlite3_stmt *st, int64_t key, struct arena *a,
                     struct series_block *ret, struct err *err)
{
    int rc = sqlite3_bind_int64(st, 1, key);
    int r = -ENOENT;

    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        r = unpack_row(s, st, a, ret, err);
    else if (rc != SQLITE_DONE)
        r = store_failed(s, "be read", err);
    (void)sqlite3_reset(st);
    return r;
}

bool series_rows_figures(const struct series_block *b, uint32_t object, uint32_t step,
                         double ret[look_figure_count])
{
    const size_t i = (size_t)object * b->n_steps + step;

    if (object >= b->n_objects || step >= b->n_steps)
        return false;
    for (int f = 0; f < look_figure_count; f++)
        ret[f] = b->codes[f] ? series_block_value((enum look_figure)f, b->codes[f][i]) : UNKNOWN;
    return true;
}
