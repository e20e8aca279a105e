/* series_write.c: keeps looks, thins those that are over, deletes what was thinned. It reads no series. */
#include "store/series_write.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/compress.h"
#include "store/limit.h"
#include "store/series_rows.h"
#include "store/series_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the looks of a span, the part in which the span before it is thinned. */
#define THINNING_PART 2

/* Rows of look_blocks that are deleted with a look, at most; after a long stop there are many. */
#define DELETED_PART 8
#define DELETED_LEAST 64

/* An object that has had figures. */
struct series_object {
    uint32_t number; /* within its kind: its block and its place there */
    instant_s gone;  /* last look that had it; 0: the newest one does */
    uint64_t seen;   /* look */
};

/* The objects of a kind. */
struct series_objects {
    struct idmap by_id;
    uint32_t n;     /* numbers are below this */
    uint32_t *free; /* numbers below n that no object has */
    size_t n_free;
};

struct series_writer {
    struct series_objects kinds[look_kind_count];
    instant_s newest;        /* look */
    instant_s thinned_until; /* looks up to then have become means */
    uint32_t next_block;     /* of the span after that: those before it are means already */
    uint64_t n_looks;        /* put by this process */
};

static const char doing[] = "keep a look";

/* ---- statements ------------------------------------------------------------------------------ */

static int prepare(const struct store *s, const char *sql, sqlite3_stmt **ret, struct err *err)
{
    return sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : store_failed(s, doing, err);
}

/* Runs a statement with whole numbers as its parameters. */
static int run(const struct store *s, const char *sql, const int64_t *numbers, int n, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = prepare(s, sql, &st, err);
    int rc = SQLITE_OK;

    if (r < 0)
        return r;
    for (int i = 0; i < n && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_int64(st, i + 1, numbers[i]);
    return rc == SQLITE_OK && sqlite3_step(st) == SQLITE_DONE ? 0 : store_failed(s, doing, err);
}

/* Runs it once more with other parameters. */
static int step_and_reset(const struct store *s, sqlite3_stmt *st, int bound, struct err *err)
{
    int rc = bound == SQLITE_OK ? sqlite3_step(st) : bound;
    int r = rc == SQLITE_DONE ? 0 : store_failed(s, doing, err);

    (void)sqlite3_reset(st);
    return r;
}

/* ---- the writer ------------------------------------------------------------------------------ */

void series_write_free(struct series_writer *w)
{
    for (int k = 0; w && k < look_kind_count; k++) {
        idmap_release(&w->kinds[k].by_id, free);
        free(w->kinds[k].free);
    }
    free(w);
}

void series_write_forget(struct store *s)
{
    series_write_free(s->series);
    s->series = NULL;
}

static int read_objects(const struct store *s, struct series_writer *w, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT kind, id, number, gone FROM series_objects", -1, &st, NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        enum look_kind kind;
        const char *word = (const char *)sqlite3_column_text(st, 0);
        const char *id = (const char *)sqlite3_column_text(st, 1);
        const int64_t number = sqlite3_column_int64(st, 2);

        if (!word || !id || look_kind_parse(word, &kind) < 0 || number < 0 || number >= 1 << 28)
            return err_set(err, -EIO, "the store %s has a damaged table of objects", s->path);
        struct series_object *o = xcalloc(1, sizeof *o);

        o->number = (uint32_t)number;
        o->gone = sqlite3_column_int64(st, 3);
        *idmap_slot(&w->kinds[kind].by_id, id) = o;
        w->kinds[kind].n = o->number >= w->kinds[kind].n ? o->number + 1 : w->kinds[kind].n;
        rc = SQLITE_OK;
    }
    return rc == SQLITE_DONE ? 0 : store_failed(s, "be read", err);
}

static void find_free_numbers(struct series_objects *objects)
{
    CLEANUP(freep) bool *used = xcalloc((size_t)objects->n + 1, sizeof *used);

    for (size_t i = 0; i < objects->by_id.cap; i++) {
        if (objects->by_id.entries[i].key)
            used[((struct series_object *)objects->by_id.entries[i].value)->number] = true;
    }
    objects->free = xcalloc((size_t)objects->n + 1, sizeof *objects->free);
    for (uint32_t i = objects->n; i-- > 0;) { /* the lowest is taken first */
        if (!used[i])
            objects->free[objects->n_free++] = i;
    }
}

static int read_writer(struct store *s, struct err *err)
{
    struct series_writer *w = xcalloc(1, sizeof *w);
    int r;

    s->series = w;
    if ((r = read_objects(s, w, err)) < 0 || (r = series_rows_thinned_until(s, &w->thinned_until, err)) < 0 ||
        (r = store_read_number(s, "SELECT max(time) FROM looks", &w->newest, err)) < 0) {
        series_write_forget(s);
        return r;
    }
    for (int k = 0; k < look_kind_count; k++)
        find_free_numbers(&w->kinds[k]);
    return 0;
}

/* The clock was set back: what was seen at times that have not come yet has no place in a series. The span
 * that it was set back into is thinned again; read_old_means() keeps of it what has no looks any more. */
static int drop_future(struct store *s, instant_s now, struct err *err)
{
    const instant_s span = series_span_of(now);
    const int64_t later_spans = series_key(span + SERIES_SPAN_S, 0, 0);
    int r;

    if ((r = run(s, "DELETE FROM looks WHERE time > ?", &now, 1, err)) < 0 ||
        (r = run(s, "DELETE FROM look_blocks WHERE id >= ?", &(int64_t){series_key(now + 1, 0, 0)}, 1, err)) <
            0 ||
        (r = run(s, "DELETE FROM mean_blocks WHERE id >= ?", &later_spans, 1, err)) < 0 ||
        (r = run(s, "UPDATE series SET thinned_until = min(thinned_until, ?)", &span, 1, err)) < 0 ||
        (r = run(s, "UPDATE series_objects SET gone = min(gone, ?1), since = min(since, ?1)", &now, 1, err)) <
            0)
        return r;
    series_write_forget(s);
    return read_writer(s, err);
}

/* ---- objects and their numbers --------------------------------------------------------------- */

static uint32_t take_number(struct series_objects *objects)
{
    return objects->n_free > 0 ? objects->free[--objects->n_free] : objects->n++;
}

static int insert_object(const struct store *s, sqlite3_stmt *st, const struct look_object *o,
                         uint32_t number, instant_s since, struct err *err)
{
    int bound = sqlite3_bind_text(st, 1, look_kind_name(o->kind), -1, SQLITE_STATIC);

    if (bound == SQLITE_OK)
        bound = sqlite3_bind_text(st, 2, o->id, -1, SQLITE_STATIC);
    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, 3, number);
    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, 4, since);
    return step_and_reset(s, st, bound, err);
}

static int set_gone(const struct store *s, sqlite3_stmt *st, enum look_kind kind, uint32_t number,
                    instant_s gone, struct err *err)
{
    int bound = sqlite3_bind_int64(st, 1, gone);

    if (bound == SQLITE_OK)
        bound = sqlite3_bind_text(st, 2, look_kind_name(kind), -1, SQLITE_STATIC);
    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, 3, number);
    return step_and_reset(s, st, bound, err);
}

/* Each object of the look gets its number; those of the look before that this one lacks are gone. */
static int number_objects(struct store *s, const struct look *look, uint32_t *ret_numbers, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *insert = NULL;
    CLEANUP(finalizep) sqlite3_stmt *gone = NULL;
    struct series_writer *w = s->series;
    const instant_s before = w->newest;
    int r;

    if ((r = prepare(s, "INSERT INTO series_objects (kind, id, number, since, gone) VALUES (?, ?, ?, ?, 0)",
                     &insert, err)) < 0 ||
        (r = prepare(s, "UPDATE series_objects SET gone = ? WHERE kind = ? AND number = ?", &gone, err)) < 0)
        return r;
    w->n_looks++;
    for (size_t i = 0; i < look->n; i++) {
        const struct look_object *is = &look->objects[i];
        struct series_objects *objects = &w->kinds[is->kind];
        void **slot = idmap_slot(&objects->by_id, is->id);
        struct series_object *o = *slot;

        if (!o) {
            *slot = o = xcalloc(1, sizeof *o);
            o->number = take_number(objects);
            r = insert_object(s, insert, is, o->number, look->time - look->covers_s, err);
        } else if (o->gone != 0) {
            r = set_gone(s, gone, is->kind, o->number, 0, err);
        }
        if (r < 0)
            return r;
        o->gone = 0;
        o->seen = w->n_looks;
        ret_numbers[i] = o->number;
    }
    for (int k = 0; k < look_kind_count; k++) {
        for (size_t i = 0; i < w->kinds[k].by_id.cap; i++) {
            struct series_object *o = w->kinds[k].by_id.entries[i].value;

            if (!w->kinds[k].by_id.entries[i].key || o->gone != 0 || o->seen == w->n_looks)
                continue;
            o->gone = before > 0 ? before : look->time;
            if ((r = set_gone(s, gone, (enum look_kind)k, o->number, o->gone, err)) < 0)
                return r;
        }
    }
    return 0;
}

/* ---- a look ---------------------------------------------------------------------------------- */

static int insert_block(const struct store *s, sqlite3_stmt *st, int64_t key, const struct series_block *b,
                        struct arena *a, struct err *err)
{
    CLEANUP(compress_release) struct compressed packed = {0};
    size_t len;
    const unsigned char *bytes = series_block_pack(b, a, &len);

    if (compress_bytes(bytes, len, &packed) < 0)
        return err_set(err, -ENOMEM, "the store %s could not %s: out of memory", s->path, doing);
    int bound = sqlite3_bind_int64(st, 1, key);

    if (bound == SQLITE_OK)
        bound = sqlite3_bind_int64(st, 2, (sqlite3_int64)len);
    if (bound == SQLITE_OK)
        bound = sqlite3_bind_blob64(st, 3, packed.data, packed.len, SQLITE_STATIC);
    return step_and_reset(s, st, bound, err);
}

/* The figures of a kind at a look, by number. */
struct plane {
    uint16_t *codes[look_figure_count]; /* NULL: not a figure of its own, or not of this kind */
    uint32_t *n_objects;                /* by block: numbers in use, the highest and one */
    uint32_t n_blocks;
};

static void fill_plane(const struct look *look, const uint32_t *numbers, enum look_kind kind, uint32_t n,
                       struct arena *a, struct plane *ret)
{
    *ret = (struct plane){.n_blocks = (n + SERIES_OBJECTS - 1) / SERIES_OBJECTS};
    ret->n_objects = arena_array(a, uint32_t, ret->n_blocks);
    for (int f = 0; f < look_figure_count; f++) {
        if (!look_has(kind, (enum look_figure)f) || look_figures[f].of != (enum look_figure)f)
            continue;
        ret->codes[f] = arena_array(a, uint16_t, (size_t)ret->n_blocks * SERIES_OBJECTS);
        memset(ret->codes[f], 0xff, sizeof(uint16_t) * ret->n_blocks * SERIES_OBJECTS); /* SERIES_UNKNOWN */
    }
    for (size_t i = 0; i < look->n; i++) {
        const struct look_object *o = &look->objects[i];

        if (o->kind != kind)
            continue;
        uint32_t *used = &ret->n_objects[numbers[i] / SERIES_OBJECTS];

        *used = numbers[i] % SERIES_OBJECTS >= *used ? numbers[i] % SERIES_OBJECTS + 1 : *used;
        for (int f = 0; f < look_figure_count; f++) {
            if (ret->codes[f])
                ret->codes[f][numbers[i]] = series_block_code((enum look_figure)f, o->of[f]);
        }
    }
}

static int insert_kind(const struct store *s, sqlite3_stmt *st, const struct look *look,
                       const uint32_t *numbers, enum look_kind kind, struct arena *a, struct err *err)
{
    struct plane p;
    int r = 0;

    fill_plane(look, numbers, kind, s->series->kinds[kind].n, a, &p);
    for (uint32_t i = 0; r == 0 && i < p.n_blocks; i++) {
        struct series_block b = {.n_objects = p.n_objects[i], .n_steps = 1};

        if (b.n_objects == 0)
            continue;
        for (int f = 0; f < look_figure_count; f++)
            b.codes[f] = p.codes[f] ? p.codes[f] + (size_t)i * SERIES_OBJECTS : NULL;
        r = insert_block(s, st, series_key(look->time, kind, i), &b, a, err);
    }
    return r;
}

static int insert_look(const struct store *s, const struct look *look, const uint32_t *numbers,
                       struct arena *a, struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    const int64_t row[] = {look->time, look->covers_s};
    int r;

    if ((r = prepare(s, "INSERT OR REPLACE INTO look_blocks (id, size, data) VALUES (?, ?, ?)", &st, err)) <
        0)
        return r;
    for (int k = 0; r == 0 && k < look_kind_count; k++)
        r = insert_kind(s, st, look, numbers, (enum look_kind)k, a, err);
    return r < 0 ? r : run(s, "INSERT OR REPLACE INTO looks (time, covers_s) VALUES (?, ?)", row, 2, err);
}

/* ---- thinning -------------------------------------------------------------------------------- */

/* A clock that was ahead for a time has made means of the span's beginning, whose looks were then deleted as
 * old. ret->n_steps: so many quarters of an hour of the span lie before its first look, and are in *ret. */
static int read_old_means(const struct store *s, instant_s span, enum look_kind kind, uint32_t block,
                          const struct series_time *first, struct arena *a, struct series_block *ret,
                          struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    const instant_s begin = first->time - first->covers_s;
    int r = begin < span + LOOK_MEANS_S ? -ENOENT : series_rows_prepare(s, true, &st, err);

    if (r == 0)
        r = series_rows_read(s, st, series_key(span, kind, block), a, ret, err);
    if (r < 0 || ret->n_steps != SERIES_MEANS_STEPS)
        *ret = (struct series_block){0};
    else
        ret->n_steps = (uint32_t)((begin - span) / LOOK_MEANS_S);
    return r == -ENOENT || r == -EIO ? 0 : r;
}

/* The code of an object at a step: of the means that were made before, or of looks. */
static uint16_t mean_code(const struct series_block *old, const struct series_sum *sum, uint32_t object,
                          uint32_t step, enum look_figure f)
{
    if (step < old->n_steps)
        return object < old->n_objects && old->codes[f] ? old->codes[f][object * SERIES_MEANS_STEPS + step]
                                                        : SERIES_UNKNOWN;
    return sum->n > 0 ? series_block_code(f, series_sum_get(sum, step, f)) : SERIES_UNKNOWN;
}

/* The means of a block, of the looks of a span. ret->n_objects 0: it was not seen. */
static int sum_block(const struct store *s, instant_s span, enum look_kind kind, uint32_t block,
                     const struct series_time *looks, size_t n, struct arena *a, struct series_block *ret,
                     struct err *err)
{
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    CLEANUP(arena_releasep) struct arena scratch = {0};
    struct series_sum *sums = arena_array(a, struct series_sum, SERIES_OBJECTS);
    double figures[look_figure_count];
    struct series_block old = {0};
    int r = read_old_means(s, span, kind, block, &looks[0], a, &old, err);

    *ret = (struct series_block){.n_objects = old.n_objects, .n_steps = SERIES_MEANS_STEPS};
    if (r == 0)
        r = series_rows_prepare(s, false, &st, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct series_block b;
        int is = series_rows_read(s, st, series_key(looks[i].time, kind, block), &scratch, &b, err);

        if (is < 0 && is != -ENOENT && is != -EIO)
            return is;
        for (uint32_t o = 0; is == 0 && o < b.n_objects; o++) {
            if (sums[o].n == 0)
                series_sum_init(&sums[o], span, LOOK_MEANS_S, SERIES_MEANS_STEPS, a);
            if (series_rows_figures(&b, o, 0, figures))
                series_sum_add(&sums[o], kind, figures, false, looks[i].time - looks[i].covers_s,
                               looks[i].time);
        }
        if (is == 0 && b.n_objects > ret->n_objects)
            ret->n_objects = b.n_objects;
        arena_reset(&scratch);
    }
    for (int f = 0; r == 0 && f < look_figure_count; f++) {
        if (!look_has(kind, (enum look_figure)f))
            continue;
        ret->codes[f] = arena_array(a, uint16_t, (size_t)ret->n_objects * SERIES_MEANS_STEPS);
        for (uint32_t o = 0; o < ret->n_objects; o++)
            for (uint32_t i = 0; i < SERIES_MEANS_STEPS; i++)
                ret->codes[f][o * SERIES_MEANS_STEPS + i] =
                    mean_code(&old, &sums[o], o, i, (enum look_figure)f);
    }
    return r;
}

static int thin_block(const struct store *s, instant_s span, enum look_kind kind, uint32_t block,
                      const struct series_time *looks, size_t n, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    struct series_block b;
    int r = sum_block(s, span, kind, block, looks, n, &a, &b, err);

    if (r < 0 || b.n_objects == 0)
        return r;
    r = prepare(s, "INSERT OR REPLACE INTO mean_blocks (id, size, data) VALUES (?, ?, ?)", &st, err);
    return r < 0 ? r : insert_block(s, st, series_key(span, kind, block), &b, &a, err);
}

static uint32_t n_blocks_of(const struct series_writer *w, enum look_kind kind)
{
    return (w->kinds[kind].n + SERIES_OBJECTS - 1) / SERIES_OBJECTS;
}

/* The i-th block of all kinds; false: there are fewer. */
static bool find_block(const struct series_writer *w, uint32_t i, enum look_kind *ret_kind, uint32_t *ret)
{
    for (int k = 0; k < look_kind_count; k++) {
        const uint32_t n = n_blocks_of(w, (enum look_kind)k);

        if (i < n) {
            *ret_kind = (enum look_kind)k;
            *ret = i;
            return true;
        }
        i -= n;
    }
    return false;
}

/* The first span with looks that were not thinned; 0: there is none that is over. */
static int find_span(const struct store *s, instant_s *ret, struct err *err)
{
    const struct series_writer *w = s->series;
    CLEANUP(finalizep) sqlite3_stmt *st = NULL;
    int r = prepare(s, "SELECT max(time - covers_s, ?1) FROM looks WHERE time > ?1 ORDER BY time LIMIT 1",
                    &st, err);

    *ret = 0;
    if (r < 0)
        return r;
    if (sqlite3_bind_int64(st, 1, w->thinned_until) != SQLITE_OK)
        return store_failed(s, "be read", err);
    int rc = sqlite3_step(st);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return store_failed(s, "be read", err);
    const instant_s span = rc == SQLITE_ROW ? series_span_of(sqlite3_column_int64(st, 0)) : 0;

    if (rc == SQLITE_ROW && span + SERIES_SPAN_S <= w->newest)
        *ret = span;
    return 0;
}

/* A part of the blocks of the span that is due. All of them must be means before the span counts as thinned,
 * so that a process that dies between two looks leaves it to the next one. */
static int thin(struct store *s, struct err *err)
{
    struct series_writer *w = s->series;
    CLEANUP(arena_releasep) struct arena a = {0};
    struct series_time *looks;
    enum look_kind kind = LOOK_CLUSTER;
    uint32_t block = 0, n_blocks = 0;
    instant_s span;
    size_t n;
    int r = find_span(s, &span, err);

    if (r < 0 || span == 0)
        return r;
    if ((r = series_rows_list_looks(s, span, span + SERIES_SPAN_S, &a, &looks, &n, err)) < 0 || n == 0)
        return r;
    for (int k = 0; k < look_kind_count; k++)
        n_blocks += n_blocks_of(w, (enum look_kind)k);
    for (size_t i = 0; i <= n_blocks * THINNING_PART / n && find_block(w, w->next_block, &kind, &block);
         i++) {
        if ((r = thin_block(s, span, kind, block, looks, n, err)) < 0)
            return r;
        w->next_block++;
    }
    if (find_block(w, w->next_block, &kind, &block))
        return 0;
    w->next_block = 0;
    w->thinned_until = span + SERIES_SPAN_S;
    return run(s, "UPDATE series SET thinned_until = ?", &w->thinned_until, 1, err);
}

/* Looks that are older than a day and have become means. */
static int delete_looks(const struct store *s, size_t n_objects, struct err *err)
{
    const struct series_writer *w = s->series;
    const instant_s day = w->newest - LOOKS_KEPT_S;
    const instant_s before = day < w->thinned_until ? day : w->thinned_until;
    const int64_t blocks[] = {series_key(before + 1, 0, 0),
                              DELETED_LEAST + (int64_t)(n_objects / SERIES_OBJECTS) * DELETED_PART};
    int r = run(s,
                "DELETE FROM look_blocks WHERE id IN"
                " (SELECT id FROM look_blocks WHERE id < ? ORDER BY id LIMIT ?)",
                blocks, 2, err);

    return r < 0 ? r : run(s, "DELETE FROM looks WHERE time <= ?", &before, 1, err);
}

int store_put_look(struct store *s, const struct look *seen, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    uint32_t *numbers = arena_array(&a, uint32_t, seen->n);
    int r = store_check_transaction(s, err);
    bool may = true;

    if (r == 0 && !s->series)
        r = read_writer(s, err);
    if (r == 0 && seen->time < s->series->newest)
        r = store_may_drop_future(s, seen->time, &may, err);
    if (r == 0 && may && seen->time < s->series->newest)
        r = drop_future(s, seen->time, err);
    if (r < 0 || !may)
        return r;
    s->behind = 0;
    struct look look = *seen;
    const instant_s newest = s->series->newest;
    bool held = false;

    /* after a restart a look tells of a time of which the one before has told */
    if (newest < look.time && newest > look.time - look.covers_s)
        look.covers_s = look.time - newest;
    if ((r = number_objects(s, &look, numbers, err)) == 0)
        r = insert_look(s, &look, numbers, &a, err);
    if (r == 0) {
        s->series->newest = look.time;
        r = thin(s, err);
    }
    if (r == 0)
        r = store_delete_old_samples(s, look.time, &held, err);
    if (r == 0 && held)
        r = delete_looks(s, look.n, err);
    if (r == 0)
        r = store_limit_enforce(s, err);
    if (r < 0)
        series_write_forget(s); /* the transaction is rolled back */
    return r;
}

/* ---- pruning --------------------------------------------------------------------------------- */

static int drop_all(struct store *s, struct err *err)
{
    static const char *const tables[] = {"DELETE FROM look_blocks", "DELETE FROM mean_blocks",
                                         "DELETE FROM looks", "DELETE FROM series_objects",
                                         "UPDATE series SET thinned_until = 0"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < sizeof tables / sizeof *tables; i++)
        r = run(s, tables[i], NULL, 0, err);
    return r;
}

/* An object's number is given to another one only when no row of it is left. */
int series_write_prune(struct store *s, instant_s before, struct err *err)
{
    int64_t first = 0; /* four hours at a time: the clock may be wrong */
    int r;

    if (before == INT64_MAX) {
        series_write_forget(s);
        return drop_all(s, err);
    }
    if ((r = store_read_number(s, "SELECT min(id) FROM mean_blocks", &first, err)) < 0)
        return r;
    first = (first >> SERIES_KEY_BITS) + SERIES_SPAN_S;
    const instant_s span = series_span_of(first > SERIES_SPAN_S && first < before ? first : before);
    const int64_t key = series_key(span, 0, 0);

    if ((r = run(s, "DELETE FROM mean_blocks WHERE id < ?", &key, 1, err)) < 0 ||
        (r = run(s, "DELETE FROM series_objects WHERE gone > 0 AND gone < ?", &span, 1, err)) < 0)
        return r;
    if (s->series && sqlite3_changes(s->db) > 0) { /* numbers are free */
        const uint32_t next_block = s->series->next_block;

        series_write_forget(s);
        if ((r = read_writer(s, err)) == 0)
            s->series->next_block = next_block;
    }
    return r;
}
