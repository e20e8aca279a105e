/* series_read.c: answers questions about the past from looks and means. Writing is series_write.c's. */
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/instant.h"
#include "store/series_rows.h"
#include "store/series_sum.h"

#include <errno.h>
#include <stdlib.h>

#define DAY_S (24 * 3600)

/* ---- one object ------------------------------------------------------------------------------ */

/* The object's place in its kind, and when it was first seen. */
struct place {
    uint32_t number;
    instant_s since;
};

static int find_object(const struct store *s, const struct series_query *q, struct place *ret,
                       struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT number, since FROM series_objects WHERE kind = ? AND id = ?",
                                -1, &st, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, look_kind_name(q->kind), -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 2, q->id, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc == SQLITE_DONE)
        return err_set(err, -ENOENT, "no figures are stored of the %s \"%s\"", look_kind_name(q->kind),
                       q->id);
    if (rc != SQLITE_ROW)
        return store_failed(s, "be read", err);
    *ret = (struct place){(uint32_t)sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)};
    return 0;
}

/* Reading an object's figures into sums. */
struct reading {
    const struct store *s;
    enum look_kind kind;
    struct place place;
    struct series_sum *sum;
    struct arena scratch;
};

static int64_t key_at(const struct reading *r, instant_s time)
{
    return series_key(time, r->kind, r->place.number / SERIES_OBJECTS);
}

static int add_looks(struct reading *r, instant_s since, instant_s until, struct err *err)
{
    CLEANUP(arena_releasep) struct arena list = {0};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    struct series_time *looks;
    double figures[look_figure_count];
    size_t n;
    int is = series_rows_list_looks(r->s, since, until, &list, &looks, &n, err);

    if (is == 0)
        is = series_rows_prepare(r->s, false, &st, err);
    for (size_t i = 0; is == 0 && i < n; i++) {
        const instant_s from = looks[i].time - looks[i].covers_s;
        struct series_block b;

        arena_reset(&r->scratch);
        is = series_rows_read(r->s, st, key_at(r, looks[i].time), &r->scratch, &b, err);
        if (is == 0 && series_rows_figures(&b, r->place.number % SERIES_OBJECTS, 0, figures))
            series_sum_add(r->sum, r->kind, figures, false, instant_later(from, since),
                           instant_earlier(looks[i].time, until));
        is = is == -ENOENT ? 0 : is;
    }
    return is;
}

static int add_means(struct reading *r, instant_s since, instant_s until, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    double figures[look_figure_count];
    int is = series_rows_prepare(r->s, true, &st, err);

    for (instant_s span = series_span_of(since); is == 0 && span < until; span += SERIES_SPAN_S) {
        struct series_block b;

        arena_reset(&r->scratch);
        if ((is = series_rows_read(r->s, st, key_at(r, span), &r->scratch, &b, err)) == -ENOENT)
            is = 0;
        else if (is == 0)
            for (uint32_t i = 0; i < b.n_steps; i++) {
                const instant_s from = span + (instant_s)i * LOOK_MEANS_S;

                if (from >= r->place.since - LOOK_MEANS_S &&
                    series_rows_figures(&b, r->place.number % SERIES_OBJECTS, i, figures))
                    series_sum_add(r->sum, r->kind, figures, true, from, from + LOOK_MEANS_S);
            }
    }
    return is;
}

/* ---- steps ----------------------------------------------------------------------------------- */

int store_series_kept(struct store *s, instant_s *ret_means, instant_s *ret_looks, struct err *err)
{
    int64_t key = 0;
    int r = store_read_number(s, "SELECT min(id) FROM mean_blocks", &key, err);

    *ret_means = key >> SERIES_KEY_BITS;
    return r < 0 ? r : store_read_number(s, "SELECT min(time - covers_s) FROM looks", ret_looks, err);
}

static instant_s round_up(instant_s t, instant_s step)
{
    return (t + step - 1) / step * step;
}

/* The step of the answer, and whether it is made of means where there are any. */
static instant_s choose_step(const struct series_query *q, instant_s since, instant_s looks_since)
{
    const instant_s length = q->until - since;
    instant_s step = q->step_s > SERIES_STEP_LEAST_S ? q->step_s : SERIES_STEP_LEAST_S;
    const instant_s fewest = (length + SERIES_POINTS_MAX - 1) / SERIES_POINTS_MAX;

    if (q->step_s == 0 && length > DAY_S)
        step = LOOK_MEANS_S;
    step = step > fewest ? step : round_up(fewest, SERIES_STEP_LEAST_S);
    if (since < looks_since || step >= LOOK_MEANS_S)
        step = round_up(step, LOOK_MEANS_S);
    return step;
}

/* Without the steps at both ends in which nothing was seen. */
static void trim(const struct series_sum *sum, struct arena *a, struct series *ret)
{
    size_t first = sum->n, end = 0;

    for (size_t i = 0; i < sum->n; i++) {
        for (int f = 0; f < look_figure_count; f++) {
            if (sum->cells[i][f].weight > 0) {
                first = first < i ? first : i;
                end = i + 1;
            }
        }
    }
    ret->n = end > first ? end - first : 0;
    ret->since = sum->first + (instant_s)(ret->n > 0 ? first : 0) * sum->step_s;
    ret->of = arena_alloc(a, ret->n, sizeof *ret->of);
    for (size_t i = 0; i < ret->n; i++)
        for (int f = 0; f < look_figure_count; f++)
            ret->of[i][f] = series_sum_get(sum, first + i, (enum look_figure)f);
}

/* Of means and looks, each kept since then; 0: none are. */
static instant_s earliest_kept(instant_s means_since, instant_s looks_since)
{
    return means_since > 0 && (looks_since == 0 || means_since < looks_since) ? means_since : looks_since;
}

/* Whole steps: from the begin of the first one to the end of the last one. */
static int read_sum(struct reading *r, instant_s means_since, instant_s looks_since, struct err *err)
{
    const instant_s first = r->sum->first;
    const instant_s until = first + (instant_s)r->sum->n * r->sum->step_s;
    instant_s thinned = 0;
    int is = series_rows_thinned_until(r->s, &thinned, err);

    if (is < 0)
        return is;
    if (r->sum->step_s < LOOK_MEANS_S) /* all of it is kept as looks */
        return add_looks(r, instant_later(first, looks_since), until, err);
    /* means are deleted for space before the looks of a day */
    const instant_s means_from = means_since > 0 ? instant_earlier(means_since, thinned) : thinned;

    if (first < means_from &&
        (is = add_looks(r, instant_later(first, looks_since), instant_earlier(until, means_from), err)) < 0)
        return is;
    if (first < thinned && (is = add_means(r, first, instant_earlier(until, thinned), err)) < 0)
        return is;
    return until > thinned ? add_looks(r, instant_later(first, thinned), until, err) : 0;
}

int store_series(struct store *s, const struct series_query *q, struct arena *a, struct series *ret,
                 struct err *err)
{
    struct series_sum sum;
    struct reading r = {.s = s, .kind = q->kind, .sum = &sum};
    instant_s means_since, looks_since;
    int is;

    if ((is = find_object(s, q, &r.place, err)) < 0 ||
        (is = store_series_kept(s, &means_since, &looks_since, err)) < 0)
        return is;
    const instant_s kept =
        instant_later(earliest_kept(means_since, looks_since), r.place.since - LOOK_MEANS_S);
    const instant_s since = instant_earlier(instant_later(q->since, kept), q->until);

    ret->step_s = choose_step(q, since, looks_since);
    const instant_s first = since / ret->step_s * ret->step_s;

    series_sum_init(&sum, first, ret->step_s, (size_t)(round_up(q->until - first, ret->step_s) / ret->step_s),
                    a);
    is = read_sum(&r, means_since, looks_since, err);
    arena_release(&r.scratch);
    if (is == 0)
        trim(&sum, a, ret);
    return is;
}

/* ---- all objects ----------------------------------------------------------------------------- */

/* The objects of a kind, by number. */
struct directory {
    const char **ids;
    instant_s *since;
    size_t n;
};

static int read_directory(const struct store *s, enum look_kind kind, struct arena *a, struct directory *ret,
                          struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int64_t last = -1;
    int rc = sqlite3_prepare_v2(s->db,
                                "SELECT number, id, since FROM series_objects WHERE kind = ? ORDER BY number"
                                " DESC",
                                -1, &st, NULL);

    *ret = (struct directory){0};
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(st, 1, look_kind_name(kind), -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        const int64_t number = sqlite3_column_int64(st, 0);

        if (last < 0) { /* the highest */
            ret->n = (size_t)number + 1;
            ret->ids = arena_array(a, const char *, ret->n);
            ret->since = arena_array(a, instant_s, ret->n);
        }
        last = number;
        ret->ids[number] = arena_strdup(a, (const char *)sqlite3_column_text(st, 1));
        ret->since[number] = sqlite3_column_int64(st, 2);
        rc = SQLITE_OK;
    }
    return rc == SQLITE_DONE ? 0 : store_failed(s, "be read", err);
}

/* What is given to a caller, step by step. */
struct walk {
    const struct store *s;
    enum look_kind kind;
    struct directory all;
    struct look_object *objects; /* as many as `all` */
    int (*each)(void *ctx, const struct look *look);
    void *ctx;
};

/* The objects of a block at a step. */
static size_t add_objects(const struct walk *w, const struct series_block *b, uint32_t block, uint32_t step,
                          instant_s time, size_t n)
{
    for (uint32_t i = 0; i < b->n_objects; i++) {
        const size_t number = (size_t)block * SERIES_OBJECTS + i;
        bool known = false;

        if (number >= w->all.n || !w->all.ids[number] || time <= w->all.since[number])
            continue;
        struct look_object *o = &w->objects[n];

        *o = (struct look_object){.kind = w->kind, .id = w->all.ids[number]};
        (void)series_rows_figures(b, i, step, o->of);
        for (int f = 0; f < look_figure_count && !known; f++)
            known = o->of[f] == o->of[f]; /* no NaN */
        n += known;
    }
    return n;
}

/* One row of each block at `time`; -ENOENT blocks have n_objects 0. */
static int read_blocks(const struct walk *w, sqlite3_stmt *st, instant_s time, struct arena *a,
                       struct series_block **ret, size_t *ret_n, struct err *err)
{
    const size_t n = (w->all.n + SERIES_OBJECTS - 1) / SERIES_OBJECTS;
    struct series_block *blocks = arena_array(a, struct series_block, n);

    for (uint32_t i = 0; i < n; i++) {
        int r = series_rows_read(w->s, st, series_key(time, w->kind, i), a, &blocks[i], err);

        if (r < 0 && r != -ENOENT)
            return r;
    }
    *ret = blocks;
    *ret_n = n;
    return 0;
}

static int walk_step(const struct walk *w, const struct series_block *blocks, size_t n, uint32_t step,
                     instant_s time, instant_s covers_s)
{
    struct look look = {.time = time, .covers_s = covers_s, .objects = w->objects};

    for (size_t i = 0; i < n; i++)
        look.n = add_objects(w, &blocks[i], (uint32_t)i, step, time, look.n);
    return look.n > 0 ? w->each(w->ctx, &look) : 0;
}

static int walk_means(const struct walk *w, instant_s since, instant_s until, struct err *err)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = series_rows_prepare(w->s, true, &st, err);

    for (instant_s span = series_span_of(since); r == 0 && span < until; span += SERIES_SPAN_S) {
        struct series_block *blocks;
        size_t n;

        arena_reset(&scratch);
        r = read_blocks(w, st, span, &scratch, &blocks, &n, err);
        for (uint32_t i = 0; r == 0 && i < SERIES_MEANS_STEPS; i++) {
            const instant_s from = span + (instant_s)i * LOOK_MEANS_S;

            if (from + LOOK_MEANS_S > since && from < until)
                r = walk_step(w, blocks, n, i, from + LOOK_MEANS_S, LOOK_MEANS_S);
        }
    }
    return r;
}

static int walk_looks(const struct walk *w, instant_s since, instant_s until, struct err *err)
{
    CLEANUP(arena_releasep) struct arena list = {0};
    CLEANUP(arena_releasep) struct arena scratch = {0};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    struct series_time *looks;
    size_t n_looks;
    int r = series_rows_list_looks(w->s, since, until, &list, &looks, &n_looks, err);

    if (r == 0)
        r = series_rows_prepare(w->s, false, &st, err);
    for (size_t i = 0; r == 0 && i < n_looks; i++) {
        struct series_block *blocks;
        size_t n;

        arena_reset(&scratch);
        if ((r = read_blocks(w, st, looks[i].time, &scratch, &blocks, &n, err)) == 0)
            r = walk_step(w, blocks, n, 0, looks[i].time, looks[i].covers_s);
    }
    return r;
}

int store_each_look(struct store *s, enum look_kind kind, enum series_steps steps, instant_s since,
                    instant_s until, int (*each)(void *ctx, const struct look *look), void *ctx,
                    struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct walk w = {.s = s, .kind = kind, .each = each, .ctx = ctx};
    instant_s means_until = 0, means_since = 0, looks_since = 0;
    int r;

    if ((r = read_directory(s, kind, &a, &w.all, err)) < 0 ||
        (r = series_rows_thinned_until(s, &means_until, err)) < 0 ||
        (r = store_series_kept(s, &means_since, &looks_since, err)) < 0)
        return r;
    w.objects = arena_array(&a, struct look_object, w.all.n);
    if (steps == SERIES_LOOKS && looks_since > 0)
        means_until = instant_earlier(means_until, round_up(looks_since, LOOK_MEANS_S));
    since = instant_later(since, earliest_kept(means_since, looks_since));
    if (since < means_until && (r = walk_means(&w, since, instant_earlier(until, means_until), err)) != 0)
        return r;
    return until > means_until ? walk_looks(&w, instant_later(since, means_until), until, err) : 0;
}
