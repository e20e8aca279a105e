/* series.h: what was seen of the cluster, over time: looks for a day, then means over quarters of an hour.
 *
 * Looks come in by put_look() of the store port. Each is kept as it is for LOOKS_KEPT_S. Four hours of looks
 * (SERIES_SPAN_S) that are over become means over quarters of an hour, weighted by the time that each look
 * covers; these are kept as long as actions (`history.days`). Where nothing was seen there is no figure: a
 * gap stays one.
 *
 * A damaged row is an error of the question that reads it. Thinning leaves it out.
 *
 * Each function: 0 or a negative errno and a sentence; results are in the arena. They work on a store that
 * was opened by store_open() or store_open_to_read(). */
#ifndef BALLAST_STORE_SERIES_H
#define BALLAST_STORE_SERIES_H

#include "engine/ports.h"

/* So many looks become means at once. */
#define SERIES_SPAN_S (4 * 3600)

/* The most points of an answer; the step is lengthened to keep it. */
#define SERIES_POINTS_MAX 3000
#define SERIES_STEP_LEAST_S 60

struct series_query {
    enum look_kind kind;
    const char *id;         /* "": the cluster */
    instant_s since, until; /* since < until; the first and the last step are whole */
    instant_s step_s;       /* 0: a minute for a day or less, else a quarter of an hour */
};

/* Points of equal length, the first from `since` on; each is the mean of what was seen within it. The first
 * and the last one have some figure. */
struct series {
    instant_s since;
    instant_s step_s; /* what was asked, or longer: means of quarters of an hour are not divided */
    size_t n;
    double (*of)[look_figure_count]; /* UNKNOWN: nothing was seen */
};

/* -ENOENT: nothing is kept of this object, or ever was. */
int store_series(struct store *s, const struct series_query *q, struct arena *a, struct series *ret,
                 struct err *err);

/* Which steps are given where there are both looks and means of them. */
enum series_steps { SERIES_LOOKS, SERIES_MEANS };

/* Calls `each` with all objects of one kind at each step, by time: the means of quarters of an hour (time:
 * the end of the quarter, covers_s: 900), then looks. Steps that end after `since` and begin before `until`.
 * What is given lasts for the call; a result other than 0 ends all, and is returned. Memory is bounded by the
 * objects of four hours. */
int store_each_look(struct store *s, enum look_kind kind, enum series_steps steps, instant_s since,
                    instant_s until, int (*each)(void *ctx, const struct look *look), void *ctx,
                    struct err *err);

/* From when on anything is kept: means of quarters, and looks; 0: nothing. */
int store_series_kept(struct store *s, instant_s *ret_means, instant_s *ret_looks, struct err *err);

#endif
