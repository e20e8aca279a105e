#include "engine/knowledge/migration_stats.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "core/costbenefit/migration.h"

#include <stdlib.h>

#define NEWEST_PART 0.25

struct average {
    double mb_s;
    instant_s learned; /* 0: nothing was yet */
};

/* A host, and what it copies to. */
struct host_rates {
    struct average own;
    struct idmap to; /* host id -> struct average */
};

struct learned {
    struct idmap hosts; /* id -> struct host_rates */
    struct idmap dirty; /* VM id -> struct average */
};

struct learned *learned_new(void)
{
    return xcalloc(1, sizeof(struct learned));
}

static void free_average(void *value)
{
    free(value);
}

static void free_host(void *value)
{
    struct host_rates *h = value;

    if (!h)
        return;
    idmap_release(&h->to, free_average);
    free(h);
}

void learned_free(struct learned *l)
{
    if (!l)
        return;
    idmap_release(&l->hosts, free_host);
    idmap_release(&l->dirty, free_average);
    free(l);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static double value_of(const struct average *a)
{
    return a && a->learned != 0 ? a->mb_s : UNKNOWN;
}

static const struct average *find_rate(const struct learned *l, const char *from, const char *to)
{
    const struct host_rates *h = idmap_get(&l->hosts, from);

    if (!h)
        return NULL;
    return *to ? idmap_get(&h->to, to) : &h->own;
}

double learned_pair_rate(const struct learned *l, const char *from, const char *to)
{
    return value_of(find_rate(l, from, to));
}

double learned_host_rate(const struct learned *l, const char *host)
{
    return value_of(find_rate(l, host, ""));
}

double learned_dirty(const struct learned *l, const char *vm)
{
    return value_of(idmap_get(&l->dirty, vm));
}

void learned_each_pair(const struct learned *l,
                       void (*pair)(const char *from, const char *to, double rate_mb_s, void *ctx), void *ctx)
{
    for (size_t i = 0; i < l->hosts.cap; i++) {
        const struct host_rates *h = l->hosts.entries[i].value;

        for (size_t k = 0; l->hosts.entries[i].key && k < h->to.cap; k++) {
            if (h->to.entries[k].key)
                pair(l->hosts.entries[i].key, h->to.entries[k].key, value_of(h->to.entries[k].value), ctx);
        }
    }
}

/* ---- learning -------------------------------------------------------------------------------- */

static struct average *average_of(struct idmap *m, const char *id)
{
    void **slot = idmap_slot(m, id);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct average));
    return *slot;
}

static struct host_rates *host_of(struct learned *l, const char *id)
{
    void **slot = idmap_slot(&l->hosts, id);

    if (!*slot)
        *slot = xcalloc(1, sizeof(struct host_rates));
    return *slot;
}

static struct average *rate_of(struct learned *l, const char *from, const char *to)
{
    struct host_rates *h = host_of(l, from);

    return *to ? average_of(&h->to, to) : &h->own;
}

static void mix(struct average *a, double mb_s, instant_s now)
{
    a->mb_s = a->learned == 0 ? mb_s : a->mb_s + NEWEST_PART * (mb_s - a->mb_s);
    a->learned = now;
}

/* What shared its link is no more than a lower bound, and nothing where nothing is known. */
static bool learn_rate(struct learned *l, const char *from, const char *to, double mb_s, bool at_least,
                       instant_s now)
{
    if (at_least && !(mb_s > value_of(find_rate(l, from, to))))
        return false;
    mix(rate_of(l, from, to), mb_s, now);
    return true;
}

bool learned_take(struct learned *l, const struct lesson *x, instant_s now)
{
    bool told = !isnan(x->dirty_mb_s);
    double dirty = told ? x->dirty_mb_s : learned_dirty(l, x->vm);
    double known = learned_pair_rate(l, x->from, x->to);

    if (!(x->mem_mb > 0) || !(x->duration_s >= LESSON_LEAST_S))
        return false;
    double rate = migration_rate_of(x->mem_mb, dirty, x->duration_s);

    if (!(rate >= LESSON_RATE_LEAST && rate <= LESSON_RATE_MOST))
        return false;
    bool any = learn_rate(l, x->from, x->to, rate, x->shared, now);

    any = learn_rate(l, x->from, "", rate, x->shared, now) || any;
    any = learn_rate(l, x->to, "", rate, x->shared, now) || any;
    if (!told && !x->shared && !isnan(known))
        mix(average_of(&l->dirty, x->vm), migration_dirty_of(x->mem_mb, known, x->duration_s), now);
    return any;
}

/* ---- the store ------------------------------------------------------------------------------- */

bool learned_rate_record(const struct learned *l, const char *from, const char *to, struct rate_record *ret)
{
    const struct average *a = find_rate(l, from, to);

    if (isnan(value_of(a)))
        return false;
    *ret = (struct rate_record){.from = from, .to = to, .mb_s = a->mb_s, .learned = a->learned};
    return true;
}

bool learned_dirty_record(const struct learned *l, const char *vm, struct dirty_record *ret)
{
    const struct average *a = idmap_get(&l->dirty, vm);

    if (isnan(value_of(a)))
        return false;
    *ret = (struct dirty_record){.vm = vm, .mb_s = a->mb_s, .learned = a->learned};
    return true;
}

/* What stands in a file may have been written by anybody. */
void learned_recall_rate(struct learned *l, const struct rate_record *r)
{
    if (r->from && r->to && r->learned > 0 && r->mb_s >= LESSON_RATE_LEAST && r->mb_s <= LESSON_RATE_MOST)
        *rate_of(l, r->from, r->to) = (struct average){.mb_s = r->mb_s, .learned = r->learned};
}

void learned_recall_dirty(struct learned *l, const struct dirty_record *r)
{
    if (r->vm && r->learned > 0 && r->mb_s >= 0 && r->mb_s <= LESSON_RATE_MOST)
        *average_of(&l->dirty, r->vm) = (struct average){.mb_s = r->mb_s, .learned = r->learned};
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static bool keep_average(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct average *a = value;

    (void)key;
    if (a->learned >= *before)
        return true;
    free(value);
    return false;
}

static bool keep_host(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    struct host_rates *h = value;

    (void)key;
    idmap_keep(&h->to, keep_average, ctx);
    if (h->own.learned < *before)
        h->own = (struct average){0};
    if (h->own.learned != 0 || h->to.n > 0)
        return true;
    free_host(value);
    return false;
}

void learned_forget(struct learned *l, instant_s before)
{
    idmap_keep(&l->dirty, keep_average, &before);
    idmap_keep(&l->hosts, keep_host, &before);
}
