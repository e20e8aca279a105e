/* copied_store.c: hands each record to a store in memory and to another store. */
#include "sim/run/copied_store.h"

#include "base/xalloc.h"
#include "sim/run/memory_store.h"

#include <stdlib.h>

struct store {
    struct store *memory;
    const struct store_copy *copy;
};

struct store *copied_store_new(struct store *memory, const struct store_copy *copy)
{
    struct store *s = xcalloc(1, sizeof *s);

    *s = (struct store){memory, copy};
    return s;
}

void copied_store_free(struct store *s)
{
    free(s);
}

static int copied_load(struct store *s, instant_s since, instant_s samples_since, struct arena *a,
                       struct stored *ret, struct err *err)
{
    return memory_store.load(s->memory, since, samples_since, a, ret, err);
}

static int copied_begin(struct store *s, struct err *err)
{
    return s->copy->ops->begin(s->copy->store, err);
}

static int copied_commit(struct store *s, struct err *err)
{
    return s->copy->ops->commit(s->copy->store, err);
}

static void copied_rollback(struct store *s)
{
    s->copy->ops->rollback(s->copy->store);
}

static int copied_put(struct store *s, const struct record *record, struct err *err)
{
    int r = memory_store.put(s->memory, record, err);

    return r < 0 ? r : s->copy->ops->put(s->copy->store, record, err);
}

static int copied_forget(struct store *s, const struct record *record, struct err *err)
{
    int r = memory_store.forget(s->memory, record, err);

    return r < 0 ? r : s->copy->ops->forget(s->copy->store, record, err);
}

static int copied_prune(struct store *s, const struct retention *keep, struct err *err)
{
    int r = memory_store.prune(s->memory, keep, err);

    return r < 0 ? r : s->copy->ops->prune(s->copy->store, keep, err);
}

static int copied_look(struct store *s, const struct look *look, struct err *err)
{
    return s->copy->ops->put_look(s->copy->store, look, err);
}

const struct store_ops copied_store = {
    .load = copied_load,
    .begin = copied_begin,
    .commit = copied_commit,
    .rollback = copied_rollback,
    .put = copied_put,
    .forget = copied_forget,
    .prune = copied_prune,
    .put_look = copied_look,
};
