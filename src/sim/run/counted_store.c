/* counted_store.c: hands records on to the service's store, and counts some of them. */
#include "sim/run/counted_store.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "engine/actions/move_result.h"
#include "engine/knowledge/energy_account.h"
#include "store/sqlite.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct store {
    struct store *of; /* store_sqlite's */
    bool is_own;      /* in memory; closed with this one */
    instant_s samples_from;
    struct store_counts counts; /* without the energy */
};

int counted_store_open(struct store *of, struct store **ret, struct err *err)
{
    struct store *own = NULL;
    int r = of ? 0 : store_open_in_memory(&own, err);

    if (r < 0)
        return r;
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct store){.of = of ? of : own, .is_own = !of, .samples_from = INT64_MAX};
    return 0;
}

void counted_store_close(struct store *s)
{
    if (s && s->is_own)
        store_close(s->of);
    free(s);
}

void counted_store_skip_samples(struct store *s, instant_s before)
{
    s->samples_from = before;
}

int counted_store_get(struct store *s, struct store_counts *ret, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct records hours;
    int r = store_sqlite.list(s->of, QUERY_ENERGY, 0, &a, &hours, err);

    if (r < 0)
        return r;
    *ret = s->counts;
    for (size_t i = 0; i < hours.n; i++)
        energy_account_add(&ret->energy, &hours.energy[i]);
    return 0;
}

static void count_move(struct move_counts *m, const struct action_record *r)
{
    m->n[r->result.overlaps]++;
    m->as_predicted[r->result.overlaps] += move_result_agrees(&r->result);
    m->harmful += move_result_harmed(&r->result);
    if (isnan(r->result.duration_s))
        return;
    m->timed[r->result.overlaps]++;
    m->times_as_predicted[r->result.overlaps] += move_result_duration_agrees(&r->result, r->duration_s);
}

/* ---- the port -------------------------------------------------------------------------------- */

static int load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                struct stored *ret, struct err *err)
{
    int r = store_sqlite.load(s->of, since, samples_since, a, ret, err);

    ret->instance = "simulated";
    return r;
}

static int begin(struct store *s, struct err *err)
{
    return store_sqlite.begin(s->of, err);
}

static int commit(struct store *s, struct err *err)
{
    return store_sqlite.commit(s->of, err);
}

static void rollback(struct store *s)
{
    assert(!"no put fails");
    store_sqlite.rollback(s->of);
}

static int put(struct store *s, const struct record *record, struct err *err)
{
    if (record->kind == RECORD_SAMPLE && s->is_own && record->sample->time < s->samples_from)
        return 0;
    if (record->kind == RECORD_PASS)
        s->counts.decide_us += record->pass->decide_us;
    /* the engine changes nothing of a move after it was observed */
    if (record->kind == RECORD_ACTION && record->action->result.observed_at != 0)
        count_move(&s->counts.moves, record->action);
    return store_sqlite.put(s->of, record, err);
}

static int forget(struct store *s, const struct record *record, struct err *err)
{
    return store_sqlite.forget(s->of, record, err);
}

static int prune(struct store *s, const struct retention *keep, struct err *err)
{
    struct retention but_energy = *keep;

    but_energy.energy_before = 0;
    return store_sqlite.prune(s->of, &but_energy, err);
}

static int list(struct store *s, enum record_query query, int64_t of, struct arena *a, struct records *ret,
                struct err *err)
{
    return store_sqlite.list(s->of, query, of, a, ret, err);
}

static int put_look(struct store *s, const struct look *look, struct err *err)
{
    return store_sqlite.put_look(s->of, look, err);
}

const struct store_ops counted_store = {
    .load = load,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .put = put,
    .forget = forget,
    .prune = prune,
    .list = list,
    .put_look = put_look,
};
