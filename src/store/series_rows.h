/* series_rows.h: the tables of series, shared by writing (series_write.c) and reading (series_read.c).
 *
 * A row of look_blocks or mean_blocks has the figures of up to 256 objects of a kind. Its number is made of
 * the time and the block, so that rows are appended at one end and deleted at the other. */
#ifndef BALLAST_STORE_SERIES_ROWS_H
#define BALLAST_STORE_SERIES_ROWS_H

#include "store/internal.h"
#include "store/series.h"
#include "store/series_block.h"

#include "base/idmap.h"

/* Bits of a row's number below its time: the kind, the block. */
#define SERIES_KEY_BITS 24
#define SERIES_BLOCK_BITS 20

#define SERIES_MEANS_STEPS (SERIES_SPAN_S / LOOK_MEANS_S)

static inline int64_t series_key(instant_s time, enum look_kind kind, uint32_t block)
{
    return time << SERIES_KEY_BITS | (int64_t)kind << SERIES_BLOCK_BITS | block;
}

static inline instant_s series_span_of(instant_s t)
{
    return t - t % SERIES_SPAN_S;
}

/* When a look was, and the time that it covers before that. */
struct series_time {
    instant_s time, covers_s;
};

/* Looks whose time covers a part of the span, by time. */
int series_rows_list_looks(const struct store *s, instant_s since, instant_s until, struct arena *a,
                           struct series_time **ret, size_t *ret_n, struct err *err);

/* A prepared `SELECT size, data ... WHERE id = ?` of look_blocks or mean_blocks. */
int series_rows_prepare(const struct store *s, bool means, sqlite3_stmt **ret, struct err *err);

/* The block of this number. -ENOENT: there is none, and *err is not set. -EIO: damaged. */
int series_rows_read(const struct store *s, sqlite3_stmt *st, int64_t key, struct arena *a,
                     struct series_block *ret, struct err *err);

/* The figures of an object at a step; false: the block does not have it. */
bool series_rows_figures(const struct series_block *b, uint32_t object, uint32_t step,
                         double ret[look_figure_count]);

/* What was made means lies before this; 0: nothing was. */
int series_rows_thinned_until(const struct store *s, instant_s *ret, struct err *err);

#endif
