/* reply_series.c: figures of the past as JSON. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "store/series.h"

#include <errno.h>
#include <math.h>

#define DAY_S (24 * 3600)

/* The object that the request names, by its id; none: the cluster. */
static int choose_object(const struct request *q, struct series_query *ret, struct err *err)
{
    const struct {
        enum look_kind kind;
        const char *id;
    } named[] = {{LOOK_VM, q->vm}, {LOOK_HOST, q->host}, {LOOK_POOL, q->pool}};
    unsigned n = 0;

    ret->kind = LOOK_CLUSTER;
    ret->id = "";
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].id[0] == '\0')
            continue;
        ret->kind = named[i].kind;
        ret->id = named[i].id;
        n++;
    }
    return n <= 1 ? 0 : err_set(err, -EINVAL, "\"vm\", \"host\" and \"pool\": expected one of them, or none");
}

/* NULL: it has none, or is gone. */
static const char *name_of(const struct snapshot *s, const struct series_query *q)
{
    uint32_t ix;

    if (!s)
        return NULL;
    switch (q->kind) {
    case LOOK_VM:
        return (ix = snapshot_find_vm(s, q->id)) == IX_NONE ? NULL : s->vms[ix].is.name;
    case LOOK_HOST:
        return (ix = snapshot_find_host(s, q->id)) == IX_NONE ? NULL : s->hosts[ix].is.name;
    case LOOK_POOL:
        return (ix = snapshot_find_pool(s, q->id)) == IX_NONE ? NULL : s->pools[ix].is.name;
    case LOOK_CLUSTER:
    case look_kind_count:
        break;
    }
    return s->cluster;
}

/* Digits that were not kept are none of the figure. */
static double rounded(double figure, enum look_figure f)
{
    return rint(figure / look_figures[f].step) * look_figures[f].step;
}

static void put_figures(struct json_writer *w, enum look_kind kind, const struct series *s)
{
    jw_begin(w, "figures", JW_OBJECT, JW_INLINE);
    for (int f = 0; f < look_figure_count; f++) {
        if (!look_has(kind, (enum look_figure)f))
            continue;
        jw_begin(w, look_figures[f].word, JW_ARRAY, JW_INLINE);
        for (size_t i = 0; i < s->n; i++)
            jw_figure(w, NULL, rounded(s->of[i][f], (enum look_figure)f));
        jw_end(w);
    }
    jw_end(w);
}

int reply_series_put(struct json_writer *w, const struct engine *e, struct store *store,
                     const struct request *q, instant_s now, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const instant_s until = q->until > 0 ? q->until : now;
    struct series_query query = {
        .since = q->since > 0 ? q->since : until - DAY_S, .until = until, .step_s = q->step_s};
    instant_s means_since = 0, looks_since = 0;
    struct series found;
    int r = choose_object(q, &query, err);

    if (r < 0)
        return r;
    if (query.since >= until)
        return err_set(err, -EINVAL, "\"since\": expected a time before %s",
                       q->until > 0 ? "\"until\"" : "now");
    r = store_series(store, &query, &a, &found, err);
    if (r == -ENOENT && name_of(engine_snapshot(e), &query)) { /* a VM that is off was never looked at */
        found = (struct series){.step_s = query.step_s > 0 ? query.step_s : SERIES_STEP_LEAST_S};
        r = 0;
    } else if (r == -ENOENT && query.kind == LOOK_POOL) {
        r = err_set(err, q->pool_in_path ? -ENOENT : -EINVAL,
                    "no pool has the id or name \"%s\"; `ballast pools` lists them", query.id);
    }
    if (r < 0 || (r = store_series_kept(store, &means_since, &looks_since, err)) < 0)
        return r;
    jw_begin(w, "series", JW_OBJECT, JW_INLINE);
    jw_text(w, "kind", look_kind_name(query.kind));
    jw_text(w, "id", query.kind == LOOK_CLUSTER ? NULL : query.id);
    jw_text(w, "name", name_of(engine_snapshot(e), &query));
    jw_instant(w, "since", found.n > 0 ? found.since : 0);
    jw_int(w, "step_s", found.step_s);
    jw_int(w, "points", (int64_t)found.n);
    jw_instant(w, "means_since", means_since);
    jw_instant(w, "looks_since", looks_since);
    put_figures(w, query.kind, &found);
    jw_end(w);
    return 0;
}
